#pragma once

// The gate on a device: what is uploaded, computed and brought back.

#include <algorithm>
#include <span>
#include <vector>

#include "kernels/checks.hpp"
#include "kernels/cuda/device_loops.cuh"
#include "kernels/cuda/operation.cuh"

namespace troupe::kernels::cuda {

struct gate_values {
  float* hidden = nullptr; ///< On the device.
  std::vector<float> logits;
};

/// Returns `malformed_values` if a logit is not finite. @pre there are rows
inline result<gate_values> gate_pass_of(operation& on, const gate_shape& of,
                                        std::span<const float> gate,
                                        std::span<const float> rows) {
  const auto n = rows.size() / of.inputs;
  const auto* values = on.input(gate);
  const auto* inputs = on.input(rows);
  gate_values out;
  out.hidden = on.room<float>(n * of.hidden);
  auto* logits = on.room<float>(n * of.experts);
  on.launch(gate_hidden, n * of.hidden, of, values, inputs, out.hidden);
  on.launch(gate_logits, n * of.experts, of, values, out.hidden, logits);
  out.logits.resize(n * of.experts);
  on.download(std::span{out.logits}, logits);
  if (auto ok = on.finished("gate_forward"); !ok)
    return tl::unexpected{ok.error()};
  if (auto ok = check_logits(out.logits, of.experts); !ok)
    return tl::unexpected{ok.error()};
  return out;
}

inline result<void> gate_forward(operation on, const gate_shape& of,
                                 std::span<const float> gate,
                                 std::span<const float> rows, gate_pass out) {
  if (auto ok = check_gate(
        of, gate.size(), rows.size(),
        {{out.hidden.size(), of.hidden}, {out.logits.size(), of.experts}});
      !ok || rows.empty())
    return ok;
  const auto seen = gate_pass_of(on, of, gate, rows);
  if (!seen)
    return tl::unexpected{seen.error()};
  on.download(out.hidden, seen->hidden);
  if (auto ok = on.finished("gate_forward"); !ok)
    return ok;
  std::copy(seen->logits.begin(), seen->logits.end(), out.logits.begin());
  return {};
}

/// What a forward pass kept, and what is known of it.
struct gate_slopes_of {
  std::span<const float> hidden;
  std::span<const float> along_logits;
};

inline result<void> gate_backward(operation on, const gate_shape& of,
                                  std::span<const float> gate,
                                  std::span<const float> rows,
                                  gate_slopes_of from,
                                  std::span<float> gradient) {
  if (auto ok = check_gate(of, gate.size(), rows.size(),
                           {{from.hidden.size(), of.hidden},
                            {from.along_logits.size(), of.experts}});
      !ok)
    return ok;
  if (auto ok = check_equal({gate.size(), gradient.size()});
      !ok || rows.empty())
    return ok;
  const auto* values = on.input(gate);
  const auto* inputs = on.input(rows);
  const auto* hidden = on.input(from.hidden);
  const auto* along = on.input(from.along_logits);
  auto* slopes = on.room<float>(from.hidden.size());
  auto* found = on.input(std::span<const float>{gradient});
  on.launch(gate_hidden_slopes, from.hidden.size(), of, values, hidden, along,
            slopes);
  on.launch(
    gate_gradient, of.size(), of,
    gate_pointers{inputs, hidden, along, slopes, rows.size() / of.inputs},
    found);
  if (auto ok = on.finished("gate_backward"); !ok)
    return ok;
  on.download(gradient, static_cast<const float*>(found));
  return on.finished("gate_backward");
}

/// The logits are the device's; their softmax is formed here, since the sum
/// has the order of the rows and an exponential of this processor.
inline result<void> gate_scores(operation on, const gate_shape& of,
                                std::span<const float> gate,
                                std::span<const float> rows,
                                std::span<double> sum) {
  if (auto ok = check_gate(of, gate.size(), rows.size(), {}); !ok)
    return ok;
  if (auto ok = check_scores(of, sum.size()); !ok || rows.empty())
    return ok;
  const auto seen = gate_pass_of(on, of, gate, rows);
  if (!seen)
    return tl::unexpected{seen.error()};
  add_softmax(seen->logits, sum);
  return {};
}

} // namespace troupe::kernels::cuda
