#pragma once

// A version's values and moments, as rows and files have them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/messages/internal.hpp"
#include "actors/record/ledger_reader.hpp"
#include "core/assert.hpp"

namespace troupe::actors::sqlite {

/// A block's values or moments, and where they go.
struct content {
  block_id block;
  const char* what;
  std::uint64_t count;
  std::span<const std::byte> bytes;
  models::digest name{}; ///< Known once it has its place.
};

inline std::vector<content>
contents_of(const std::vector<messages::merged_block>& blocks) {
  std::vector<content> all;
  const auto add = [&](block_id block, const char* what, auto values) {
    all.push_back({block, what, values.size(), std::as_bytes(values)});
  };
  // The reader finds them in this order, which counts in the digest of the
  // version.
  TROUPE_ASSERT(
    std::ranges::is_sorted(blocks, {}, &messages::merged_block::block));
  for (const auto& b : blocks) {
    TROUPE_ASSERT(b.values != nullptr);
    add(b.block, values_kind, std::span{*b.values});
    if (!b.moments.empty())
      add(b.block, moments_kind, b.moments.view());
  }
  return all;
}

} // namespace troupe::actors::sqlite
