#pragma once

// How many ranks of a common adapter a client begins with, where options say
// that for each.

#include <cstddef>
#include <cstdint>

#include "core/option.hpp"

namespace troupe::models {

/// A client among the others.
struct ranked_client {
  std::size_t before = 0; ///< Clients of lower numbers.
  std::size_t clients = 1;
  std::uint32_t experts = 0; ///< What the configuration says that it has.
};

/// As published, between `rank_min` and the full rank in the order of the
/// clients; or from `rank_first` to `rank_last`; or as many as its experts
/// would have together.
std::size_t first_rank(const options& said, const ranked_client& of);

} // namespace troupe::models
