#include "actors/metrics/status.hpp"

#include <algorithm>

namespace troupe::actors {

void staleness_counts::add(std::uint64_t versions) {
  const auto bucket = std::ranges::lower_bound(staleness_bounds, versions);
  ++buckets[static_cast<std::size_t>(bucket - staleness_bounds.begin())];
  sum += versions;
}

} // namespace troupe::actors
