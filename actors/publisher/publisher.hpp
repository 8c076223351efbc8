#pragma once

#include <map>
#include <optional>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/interfaces.hpp"
#include "actors/publisher/audience.hpp"
#include "core/clock.hpp"
#include "core/patience.hpp"

namespace troupe::actors {

struct publisher_args {
  std::map<line_id, messages::version_published> heads; ///< At the start.
  std::optional<line_id> lead; ///< Whose versions are evaluated; none: any.
  std::uint64_t evaluate_every = 0; ///< Versions; 0: only at the end.
  bool evaluate_at_end = true;
  bool announce = false;
  std::shared_ptr<audience> watching;
  cast_ptr others;
  caf::actor_clock::time_point started; ///< The run's instant zero.
  patience waits = {};
};

struct publisher_state {
  static inline constexpr const char* name = "publisher";

  publisher_args args;
};

/// "Line l is at version v": to the gateway, the record and the audience; has
/// every n-th version scored and the director told.
publisher_actor::behavior_type
publisher(publisher_actor::stateful_pointer<publisher_state> self,
          publisher_args args);

} // namespace troupe::actors
