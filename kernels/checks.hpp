#pragma once

// The checks that every backend makes first, beside those that backend.hpp
// gives to the gateway.

#include <initializer_list>
#include <utility>

#include "kernels/backend.hpp"

namespace troupe::kernels {

[[nodiscard]] result<void> check_term(const f16_term& x, grid g);
[[nodiscard]] result<void> check_term(const int8_term& x, grid g);

[[nodiscard]] result<void> check_terms(std::span<const f16_term> terms, grid g,
                                       std::size_t size);
[[nodiscard]] result<void> check_terms(std::span<const int8_term> terms, grid g,
                                       std::size_t size);

/// Only the number of terms and their sizes, not the values.
[[nodiscard]] result<void> check_sizes(std::span<const term> terms, grid g,
                                       std::size_t size);
[[nodiscard]] result<void> check_sizes(std::span<const f16_term> terms, grid g,
                                       std::size_t size);
[[nodiscard]] result<void> check_sizes(std::span<const int8_term> terms, grid g,
                                       std::size_t size);

[[nodiscard]] result<void> check_server_step(const server_step& step,
                                             std::size_t moments,
                                             std::size_t size);

[[nodiscard]] result<void> check_step(const sgd_step& how,
                                      const step_buffers& on);
[[nodiscard]] result<void> check_step(const adamw_step& how,
                                      const step_buffers& on);

/// Of all, before one is made.
template <class Step>
[[nodiscard]] result<void> check_steps(std::span<const step_call<Step>> all) {
  for (const auto& x : all)
    if (auto ok = check_step(x.how, x.on); !ok)
      return ok;
  return {};
}

/// What is read and written has one size.
[[nodiscard]] result<void>
check_equal(std::initializer_list<std::size_t> sizes);

[[nodiscard]] result<void> check_low_rank(const low_rank& x, std::size_t matrix,
                                          std::size_t out);
[[nodiscard]] result<void> check_slopes(const low_rank& x,
                                        const low_rank_slopes& out);

/// @param gate how many values it has
/// @param rows how many all rows have together
/// @param per_row sizes that were found, each with the values of one row
[[nodiscard]] result<void>
check_gate(const gate_shape& of, std::size_t gate, std::size_t rows,
           std::initializer_list<std::pair<std::size_t, std::size_t>> per_row);

/// There is a sum for each expert.
[[nodiscard]] result<void> check_scores(const gate_shape& of, std::size_t sum);

/// Returns `malformed_values` if one is not finite. @param first the rows
/// before
[[nodiscard]] result<void> check_logits(std::span<const float> logits,
                                        std::size_t experts,
                                        std::size_t first = 0);

/// @param rows how many values all rows have together, as `inner` and `y`
[[nodiscard]] result<void> check_side(const side_terms& of, std::size_t rows,
                                      std::size_t inner, std::size_t y);

/// What is wanted has the size of what it is along. @param rows as above
[[nodiscard]] result<void> check_side_slopes(const side_terms& of,
                                             std::size_t rows,
                                             const side_slopes& out);

/// Returns the norm, or `malformed_values` if it shows a value that is not
/// finite.
[[nodiscard]] result<double> check_norm(double norm);
[[nodiscard]] result<void> check_limit(double limit);

/// What `clip` multiplies with. A little smaller than the quotient: the norm of
/// the rounded values must not exceed the limit either, so clipping again does
/// nothing.
constexpr double clip_factor(double norm, double limit) noexcept {
  return limit / norm * (1 - 0x1p-23);
}

} // namespace troupe::kernels
