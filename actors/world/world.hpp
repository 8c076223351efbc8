#pragma once

#include <map>
#include <memory>
#include <optional>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/interfaces.hpp"
#include "actors/record/snapshot.hpp"
#include "policies/presence.hpp"

namespace troupe::actors {

struct world_args {
  policies::presence::options options;
  std::map<client_id, client_actor> clients;
  std::optional<line_id> lead;          ///< Whose versions scenes wait for.
  caf::actor_clock::time_point started; ///< The run's instant zero.
  std::shared_ptr<const snapshot> resumed = {};
};

struct world_state {
  static inline constexpr const char* name = "world";

  world_args args;
  std::optional<policies::presence> who; // Set before the first message.
  instant armed = instant::max();
};

using world_impl = world_actor::extend<caf::reacts_to<caf::tick_atom>>;

/// What happens to virtual clients: its twin says when, it tells them.
world_impl::behavior_type world(world_impl::stateful_pointer<world_state> self,
                                world_args args);

} // namespace troupe::actors
