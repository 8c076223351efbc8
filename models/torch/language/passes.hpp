#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/language/token_rows.hpp"
#include "models/torch/language/network.hpp"

namespace troupe::models {

/// Rows that go forward together, and what is to be foretold of them.
struct language_pass {
  token_batch x;
  /// [targets], Long: tokens that have one, counted row after row.
  at::Tensor places;
  at::Tensor targets;          ///< [targets], Long.
  std::uint64_t first_row = 0; ///< Among those that were asked for.
  bool is_kept = false;        ///< As in pass_facts.
};

/// @pre !rows.empty()
language_pass read_pass(const token_rows& from, split part,
                        std::span<const std::uint32_t> rows);

/// All of them in their order, so many a pass. @pre rows_max > 0
std::vector<language_pass> passes_of(const token_rows& from, split part,
                                     std::span<const std::uint32_t> rows,
                                     std::size_t rows_max);

/// Of all passes together.
std::int64_t targets_of(const std::vector<language_pass>& passes);

} // namespace troupe::models
