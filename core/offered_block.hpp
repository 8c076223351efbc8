#pragma once

#include <cstdint>
#include <tuple>

#include "core/ids.hpp"
#include "core/values.hpp"

namespace troupe {

/// What a visit makes of one block, from the local procedure to the merge.
struct offered_block {
  block_id block;
  std::uint32_t rank = 0; ///< How many ranks `delta` has; 0: the whole block.
  double weight = 0;
  shared_values delta;
  /// What `weight` is of the most that it could be, where the rule has shares.
  /// The gateway finds it.
  double share = 1;

  static constexpr auto fields(auto& x) {
    return std::tie(x.block, x.rank, x.weight, x.delta, x.share);
  }
};

} // namespace troupe
