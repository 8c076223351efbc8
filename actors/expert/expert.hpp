#pragma once

#include <memory>
#include <optional>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/expert/shelf.hpp"
#include "actors/interfaces.hpp"
#include "core/patience.hpp"

namespace troupe::actors {

struct expert_args {
  shelf::options options;
  messages::version_published first; ///< The durable head at the start.
  std::shared_ptr<const models::layout> blocks;
  cast_ptr others;
  patience waits = {};
  std::shared_ptr<const snapshot> resumed = {}; ///< Goes on from this.
};

struct expert_state {
  static inline constexpr const char* name = "expert";

  expert_args args;
  std::optional<shelf> versions; // Set before the first message arrives.
};

/// The read side of one version line.
expert_actor::behavior_type
expert(expert_actor::stateful_pointer<expert_state> self, expert_args args);

} // namespace troupe::actors
