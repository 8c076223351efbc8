#include "models/adapters/rank_prefix.hpp"

#include <algorithm>

#include "core/assert.hpp"
#include "models/labels.hpp"

namespace troupe::models {

namespace {

/// How much of a tensor is in a prefix of this rank.
std::size_t part_of(const tensor_spec& x, std::uint32_t rank) {
  if (!has_ranks(x))
    return x.size();
  const auto rows = static_cast<std::size_t>(x.shape.front());
  return x.size() / rows * std::min<std::size_t>(rank, rows);
}

bool is_whole(const block_layout& block, std::uint32_t rank) {
  return rank == 0 || rank >= block.rank;
}

/// Calls `f` with each tensor's place in the block and in the prefix, and how
/// many values of it are in both.
template <class F>
void for_each_part(const block_layout& block, std::uint32_t rank, F f) {
  std::size_t in_whole = 0;
  std::size_t in_prefix = 0;
  for (const auto& x : block.tensors) {
    const auto part = part_of(x, rank);
    f(in_whole, in_prefix, part);
    in_whole += x.size();
    in_prefix += part;
  }
}

} // namespace

// A head's own factors are called as any others.
bool has_ranks(const tensor_spec& x) noexcept {
  const bool is_factor = x.name.ends_with(".u") || x.name.ends_with(".v");
  return x.shape.size() > 1 && (is_factor || !x.name.starts_with(head_prefix));
}

std::size_t prefix_size(const block_layout& block, std::uint32_t rank) {
  if (is_whole(block, rank))
    return block.size;
  std::size_t size = 0;
  for (const auto& x : block.tensors)
    size += part_of(x, rank);
  return size;
}

std::optional<std::uint32_t> prefix_rank(const block_layout& block,
                                         std::size_t size) {
  if (size == block.size)
    return block.rank;
  for (std::uint32_t rank = 1; rank < block.rank; ++rank)
    if (prefix_size(block, rank) == size)
      return rank;
  return std::nullopt;
}

std::vector<float> take_prefix(const block_layout& block, std::uint32_t rank,
                               std::span<const float> whole) {
  TROUPE_ASSERT(whole.size() == block.size);
  if (is_whole(block, rank))
    return {whole.begin(), whole.end()};
  std::vector<float> result(prefix_size(block, rank));
  for_each_part(block, rank, [&](auto from, auto to, auto size) {
    std::ranges::copy(whole.subspan(from, size), result.data() + to);
  });
  return result;
}

shared_values take_prefix(const block_layout& block, std::uint32_t rank,
                          const shared_values& whole) {
  if (is_whole(block, rank))
    return whole;
  return share(take_prefix(block, rank, std::span{*whole}));
}

void put_prefix(const block_layout& block, std::uint32_t rank,
                std::span<const float> prefix, std::span<float> whole) {
  TROUPE_ASSERT(whole.size() == block.size);
  TROUPE_ASSERT(prefix.size() == prefix_size(block, rank));
  if (is_whole(block, rank)) {
    std::ranges::copy(prefix, whole.begin());
    return;
  }
  for_each_part(block, rank, [&](auto to, auto from, auto size) {
    std::ranges::copy(prefix.subspan(from, size), whole.data() + to);
  });
}

std::vector<float> padded(const block_layout& block, const offered_block& x,
                          std::span<const float> base, float most) {
  TROUPE_ASSERT(base.size() == block.size);
  std::vector<float> whole(block.size);
  std::ranges::transform(base, whole.begin(), [most](float value) {
    return std::clamp(-value, -most, most);
  });
  put_prefix(block, x.rank, *x.delta, whole);
  return whole;
}

} // namespace troupe::models
