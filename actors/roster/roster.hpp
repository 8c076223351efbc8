#pragma once

#include <chrono>
#include <optional>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/interfaces.hpp"
#include "actors/roster/attendance.hpp"

namespace troupe::actors {

struct roster_args {
  attendance::options options;
  cast_ptr others;
  caf::actor_clock::time_point started; ///< The run's instant zero.
  caf::timespan look_every = std::chrono::seconds{10}; ///< For the silent.
  std::shared_ptr<const snapshot> resumed = {};        ///< Goes on from this.
};

struct roster_state {
  static inline constexpr const char* name = "roster";

  roster_args args;
  std::optional<attendance> book; // Set before the first message arrives.
};

using roster_impl = roster_actor::extend<caf::reacts_to<caf::tick_atom>>;

/// Admits clients, and notices when they are gone.
roster_impl::behavior_type
roster(roster_impl::stateful_pointer<roster_state> self, roster_args args);

} // namespace troupe::actors
