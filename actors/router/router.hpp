#pragma once

#include <map>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/interfaces.hpp"

namespace troupe::actors {

/// Who keeps a line.
struct line_keepers {
  aggregator_actor aggregator;
  expert_actor expert;
};

struct router_args {
  std::map<line_id, line_keepers> lines;
  cast_ptr others;
};

struct router_state {
  static inline constexpr const char* name = "router";

  router_args args;
};

/// The troupe as it is: which lines there are, and who keeps them. Whoever
/// speaks about a line speaks to the router, so a new line is known in one
/// place.
router_actor::behavior_type
router(router_actor::stateful_pointer<router_state> self, router_args args);

} // namespace troupe::actors
