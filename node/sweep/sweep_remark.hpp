#pragma once

// What is said when a run of a sweep has ended.

#include <cstddef>
#include <string>

#include "core/json.hpp"

namespace troupe::node {

/// Where a sweep stands then.
struct sweep_moment {
  std::size_t done =
    0; ///< Of all runs, with those that an earlier process made.
  std::size_t all = 0;
  std::size_t here = 0; ///< By this process, which has been at it for so long:
  double seconds = 0;
};

/// "; about 12 min 0 s left", as runs have taken until now; empty: none is
/// left, or nothing is known.
std::string time_left(const sweep_moment& x);

/// ": clients_perplexity 33.5, in 11 min 20 s". A number that the result lacks
/// is left out.
std::string come_to(const json& result, const std::string& metric);

} // namespace troupe::node
