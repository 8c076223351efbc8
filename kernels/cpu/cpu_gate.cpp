#include "kernels/cpu/cpu_gate.hpp"

#include <algorithm>

#include "kernels/checks.hpp"
#include "kernels/cpu/loops.hpp"

namespace troupe::kernels {

namespace {

using loops::gate_tile;

/// Lays rows of `width` values beside each other. Lanes without a row get
/// zeros.
void lay_beside(std::span<const float> rows, std::size_t width,
                std::vector<float>& to) {
  const auto count = rows.size() / width;
  to.resize(width * gate_tile);
  if (count < gate_tile)
    std::ranges::fill(to, 0.f);
  for (std::size_t r = 0; r < count; ++r)
    for (std::size_t i = 0; i < width; ++i)
      to[i * gate_tile + r] = rows[r * width + i];
}

/// The other way round.
void lay_apart(std::span<const float> tile, std::size_t width,
               std::span<float> rows) {
  const auto count = rows.size() / width;
  for (std::size_t r = 0; r < count; ++r)
    for (std::size_t i = 0; i < width; ++i)
      rows[r * width + i] = tile[i * gate_tile + r];
}

} // namespace

void cpu_gate::pass(const gate_shape& of, std::span<const float> gate,
                    std::span<const float> rows) {
  lay_beside(rows, of.inputs, rows_);
  hidden_.resize(of.hidden * gate_tile);
  logits_.resize(of.experts * gate_tile);
  const auto* at = gate.data();
  loops::gate_layer(at, at + of.hidden_bias_at(), of.inputs, of.hidden,
                    rows_.data(), hidden_.data());
  for (auto& x : hidden_)
    x = x < 0 ? 0.f : x; // What is not a number stays so, and is found.
  loops::gate_layer(at + of.output_at(), at + of.output_bias_at(), of.hidden,
                    of.experts, hidden_.data(), logits_.data());
}

result<void> cpu_gate::forward(const gate_shape& of,
                               std::span<const float> gate,
                               std::span<const float> rows, gate_pass out) {
  if (auto ok = check_gate(
        of, gate.size(), rows.size(),
        {{out.hidden.size(), of.hidden}, {out.logits.size(), of.experts}});
      !ok)
    return ok;
  hidden_of_all_.resize(out.hidden.size());
  logits_of_all_.resize(out.logits.size());
  const std::span hidden{hidden_of_all_}, logits{logits_of_all_};
  const auto n = rows.size() / of.inputs;
  for (std::size_t first = 0; first < n; first += gate_tile) {
    const auto count = std::min(gate_tile, n - first);
    pass(of, gate, rows.subspan(first * of.inputs, count * of.inputs));
    lay_apart(hidden_, of.hidden,
              hidden.subspan(first * of.hidden, count * of.hidden));
    lay_apart(logits_, of.experts,
              logits.subspan(first * of.experts, count * of.experts));
  }
  if (auto ok = check_logits(logits, of.experts); !ok)
    return ok;
  std::ranges::copy(hidden, out.hidden.begin());
  std::ranges::copy(logits, out.logits.begin());
  return {};
}

result<void> cpu_gate::backward(const gate_shape& of,
                                std::span<const float> gate,
                                std::span<const float> rows,
                                std::span<const float> hidden,
                                std::span<const float> along_logits,
                                std::span<float> gradient) {
  if (auto ok = check_gate(
        of, gate.size(), rows.size(),
        {{hidden.size(), of.hidden}, {along_logits.size(), of.experts}});
      !ok)
    return ok;
  if (auto ok = check_equal({gate.size(), gradient.size()}); !ok)
    return ok;
  hidden_.resize(of.hidden);
  for (std::size_t r = 0; r < rows.size() / of.inputs; ++r)
    loops::gate_gradient(of, gate.data(), rows.data() + r * of.inputs,
                         hidden.data() + r * of.hidden,
                         along_logits.data() + r * of.experts, hidden_.data(),
                         gradient.data());
  return {};
}

result<void> cpu_gate::scores(const gate_shape& of, std::span<const float> gate,
                              std::span<const float> rows,
                              std::span<double> sum) {
  if (auto ok = check_gate(of, gate.size(), rows.size(), {}); !ok)
    return ok;
  if (auto ok = check_scores(of, sum.size()); !ok)
    return ok;
  const auto n = rows.size() / of.inputs;
  sums_.assign(sum.begin(), sum.end());
  for (std::size_t first = 0; first < n; first += gate_tile) {
    const auto count = std::min(gate_tile, n - first);
    pass(of, gate, rows.subspan(first * of.inputs, count * of.inputs));
    logits_of_all_.resize(count * of.experts);
    lay_apart(logits_, of.experts, logits_of_all_);
    if (auto ok = check_logits(logits_of_all_, of.experts, first); !ok)
      return ok;
    add_softmax(logits_of_all_, sums_);
  }
  std::ranges::copy(sums_, sum.begin());
  return {};
}

} // namespace troupe::kernels
