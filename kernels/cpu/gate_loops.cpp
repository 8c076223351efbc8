// The gate's loops. Rows of a layer lie beside each other, and lanes run over
// them: each row is summed in the order of the inputs, whatever is beside it.

#include <algorithm>
#include <cstring>

#include "kernels/cpu/clones.hpp"
#include "kernels/cpu/loops.hpp"

namespace troupe::kernels::loops {

namespace {

using lanes [[gnu::vector_size(gate_tile * sizeof(float))]] = float;

/// So many outputs together, since each sum waits for itself.
template <std::size_t Outputs>
TROUPE_INLINE void outputs_of(const float* weights, const float* bias,
                              std::size_t inputs, const float* from,
                              float* to) {
  static_assert(Outputs == 1 || Outputs == 4);
  lanes s0{}, s1{}, s2{}, s3{};
  for (std::size_t i = 0; i < inputs; ++i) {
    lanes x;
    std::memcpy(&x, from + i * gate_tile, sizeof x);
    s0 += weights[i] * x;
    if constexpr (Outputs == 4) {
      s1 += weights[inputs + i] * x;
      s2 += weights[2 * inputs + i] * x;
      s3 += weights[3 * inputs + i] * x;
    }
  }
  s0 = s0 + bias[0];
  std::memcpy(to, &s0, sizeof s0);
  if constexpr (Outputs == 4) {
    s1 = s1 + bias[1];
    s2 = s2 + bias[2];
    s3 = s3 + bias[3];
    std::memcpy(to + gate_tile, &s1, sizeof s1);
    std::memcpy(to + 2 * gate_tile, &s2, sizeof s2);
    std::memcpy(to + 3 * gate_tile, &s3, sizeof s3);
  }
}

} // namespace

TROUPE_CLONES void gate_layer(const float* weights, const float* bias,
                              std::size_t inputs, std::size_t outputs,
                              const float* from, float* to) {
  std::size_t k = 0;
  for (; k + 4 <= outputs; k += 4)
    outputs_of<4>(weights + k * inputs, bias + k, inputs, from,
                  to + k * gate_tile);
  for (; k < outputs; ++k)
    outputs_of<1>(weights + k * inputs, bias + k, inputs, from,
                  to + k * gate_tile);
}

TROUPE_CLONES void
gate_gradient(const gate_shape& of, const float* __restrict gate,
              const float* __restrict row, const float* __restrict hidden,
              const float* __restrict along, float* __restrict slopes,
              float* __restrict gradient) {
  const auto inputs = of.inputs, width = of.hidden, experts = of.experts;
  std::fill_n(slopes, width, 0.f);
  for (std::size_t k = 0; k < experts; ++k) {
    const auto slope = along[k];
    if (slope == 0) // Of many experts few are asked.
      continue;
    const auto* weights = gate + of.output_at() + k * width;
    auto* to = gradient + of.output_at() + k * width;
    for (std::size_t h = 0; h < width; ++h) {
      to[h] += slope * hidden[h];
      slopes[h] += slope * weights[h];
    }
    gradient[of.output_bias_at() + k] += slope;
  }
  for (std::size_t h = 0; h < width; ++h) {
    const auto slope = slopes[h];
    if (!(hidden[h] > 0) || slope == 0)
      continue;
    auto* to = gradient + h * inputs;
    for (std::size_t i = 0; i < inputs; ++i)
      to[i] += slope * row[i];
    gradient[of.hidden_bias_at() + h] += slope;
  }
}

} // namespace troupe::kernels::loops
