#include "kernels/reference_parts.hpp"

namespace troupe::kernels {

seen_row seen_by_gate(const gate_shape& of, std::span<const float> gate,
                      std::span<const float> rows) {
  seen_row out;
  for (std::size_t h = 0; h < of.hidden; ++h) {
    real sum = gate[of.hidden_bias_at() + h];
    for (std::size_t i = 0; i < of.inputs; ++i)
      sum += static_cast<real>(gate[h * of.inputs + i]) * rows[i];
    out.hidden.push_back(sum < 0 ? 0 : sum);
  }
  for (std::size_t k = 0; k < of.experts; ++k) {
    real sum = gate[of.output_bias_at() + k];
    for (std::size_t h = 0; h < of.hidden; ++h)
      sum += gate[of.output_at() + k * of.hidden + h] * out.hidden[h];
    out.logits.push_back(sum);
  }
  return out;
}

void add_row_of_gate(const gate_shape& of, std::span<const float> gate,
                     std::span<const float> row, std::span<const float> hidden,
                     std::span<const float> along, std::span<real> gradient) {
  for (std::size_t k = 0; k < of.experts; ++k) {
    gradient[of.output_bias_at() + k] += along[k];
    for (std::size_t h = 0; h < of.hidden; ++h)
      gradient[of.output_at() + k * of.hidden + h] +=
        static_cast<real>(along[k]) * hidden[h];
  }
  for (std::size_t h = 0; h < of.hidden; ++h) {
    if (!(hidden[h] > 0)) // ReLU holds it back.
      continue;
    real slope = 0;
    for (std::size_t k = 0; k < of.experts; ++k)
      slope +=
        static_cast<real>(along[k]) * gate[of.output_at() + k * of.hidden + h];
    gradient[of.hidden_bias_at() + h] += slope;
    for (std::size_t i = 0; i < of.inputs; ++i)
      gradient[h * of.inputs + i] += slope * row[i];
  }
}

} // namespace troupe::kernels
