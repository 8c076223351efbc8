#pragma once

#include <optional>

#include "actors/metrics/status.hpp"
#include "core/by_client.hpp"
#include "core/clock.hpp"
#include "core/ids.hpp"

namespace troupe::actors {

/// From invitations to offers, for who watches: nothing is decided by it, so a
/// visit takes no memory for it and looks for nothing.
class round_trips {
public:
  /// Invitations are said again and again while a visit is under way.
  void began(visit_id x, instant now) {
    auto& last = last_[x.client];
    if (last.number != x.number)
      last = {.number = x.number, .since = now};
  }

  void ended(visit_id x, instant now) {
    const auto found = last_.find(x.client);
    if (found == last_.end() || found->second.number != x.number
        || !found->second.since)
      return;
    taken_.add(seconds(now - *found->second.since));
    found->second.since.reset();
  }

  const duration_counts& taken() const noexcept {
    return taken_;
  }

private:
  struct trip {
    visit_number number{};
    std::optional<instant> since = {}; ///< None: it is over.
  };

  by_client<trip> last_;
  duration_counts taken_;
};

} // namespace troupe::actors
