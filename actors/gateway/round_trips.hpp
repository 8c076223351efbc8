#pragma once

#include <map>
#include <utility>

#include "actors/metrics/status.hpp"
#include "core/clock.hpp"
#include "core/ids.hpp"

namespace troupe::actors {

/// From invitations to offers, for who watches: nothing is decided by it.
class round_trips {
public:
  /// Invitations are said again and again while a visit is under way.
  void began(visit_id x, instant now) {
    if (const auto found = under_way_.find(x.client);
        found == under_way_.end() || found->second.first != x.number)
      under_way_[x.client] = {x.number, now};
  }

  void ended(visit_id x, instant now) {
    const auto found = under_way_.find(x.client);
    if (found == under_way_.end() || found->second.first != x.number)
      return;
    taken_.add(seconds(now - found->second.second));
    under_way_.erase(found);
  }

  const duration_counts& taken() const noexcept {
    return taken_;
  }

private:
  std::map<client_id, std::pair<visit_number, instant>> under_way_;
  duration_counts taken_;
};

} // namespace troupe::actors
