#pragma once

// The first ranks of a block whose factors are rank-major: the first rows of
// each of them, behind each other, and all of what has no rank: vectors, and a
// layer that says what a row is.
// That is how a client of lower rank fetches and offers it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/offered_block.hpp"
#include "models/layout.hpp"

namespace troupe::models {

/// Whether a tensor of a block with ranks is a factor, one row for each rank
/// that it has: the block's, or fewer. A vector is none, and no layer that is
/// added whole.
bool has_ranks(const tensor_spec& x) noexcept;

/// How many values the first `rank` ranks have; 0, and what is above the
/// block's own rank, is the whole block.
std::size_t prefix_size(const block_layout& block, std::uint32_t rank);

/// The rank of a prefix of this size; none, if there is no such prefix.
std::optional<std::uint32_t> prefix_rank(const block_layout& block,
                                         std::size_t size);

/// @pre whole.size() == block.size
std::vector<float> take_prefix(const block_layout& block, std::uint32_t rank,
                               std::span<const float> whole);

/// Likewise. What is asked for whole is not copied.
shared_values take_prefix(const block_layout& block, std::uint32_t rank,
                          const shared_values& whole);

/// Writes the prefix of this rank to its places in a whole block; the others
/// stay. @pre whole.size() == block.size, and `prefix` has the rank's size
void put_prefix(const block_layout& block, std::uint32_t rank,
                std::span<const float> prefix, std::span<float> whole);

/// The difference to `base` that one of the first ranks alone stands for: what
/// is lacking counts as values of zero, and so leads there, by `most` at most.
/// @pre base.size() == block.size, and the offer's delta has its rank's size
std::vector<float> padded(const block_layout& block, const offered_block& x,
                          std::span<const float> base, float most);

} // namespace troupe::models
