#pragma once

// What the reference says of gates and of side terms, in units of their own.

#include <span>
#include <vector>

#include "kernels/backend.hpp"

namespace troupe::kernels {

using real = long double;

/// What a gate makes of a row.
struct seen_row {
  std::vector<real> hidden;
  std::vector<real> logits;
};

/// Of the first row.
seen_row seen_by_gate(const gate_shape& of, std::span<const float> gate,
                      std::span<const float> rows);

/// What slopes along the logits of one row make of the gradient.
void add_row_of_gate(const gate_shape& of, std::span<const float> gate,
                     std::span<const float> row, std::span<const float> hidden,
                     std::span<const float> along, std::span<real> gradient);

[[nodiscard]] result<void> reference_side_forward(const side_terms& of,
                                                  std::span<const float> rows,
                                                  std::span<float> inner,
                                                  std::span<float> y);

[[nodiscard]] result<void>
reference_side_backward(const side_terms& of, std::span<const float> rows,
                        std::span<const float> inner,
                        std::span<const float> along_y, side_slopes out);

} // namespace troupe::kernels
