#pragma once

// The visits of one client among those of all.

#include <cstddef>
#include <iterator>

#include "core/ids.hpp"

namespace troupe::actors {

/// @param visits a set, or a map of them
std::size_t count_of(const auto& visits, client_id who) {
  const auto own = visits.lower_bound(visit_id{who, {}});
  const auto next = visits.lower_bound(visit_id{{who.value + 1}, {}});
  return static_cast<std::size_t>(std::distance(own, next));
}

void forget_oldest(auto& visits, client_id of, std::size_t most) {
  if (count_of(visits, of) > most)
    visits.erase(visits.lower_bound(visit_id{of, {}}));
}

} // namespace troupe::actors
