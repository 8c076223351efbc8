#pragma once

#include <chrono>
#include <optional>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/director/course.hpp"
#include "actors/director/loads.hpp"
#include "actors/interfaces.hpp"
#include "core/patience.hpp"
#include "models/watched.hpp"

namespace troupe::actors {

struct director_args {
  course::options options;
  course::durable found;
  cast_ptr others;
  models::watched metric = models::watched::accuracy;
  caf::actor_clock::time_point started; ///< The run's instant zero.
  patience waits = {};
  bool events = false;                          ///< Notes rounds and the end.
  std::shared_ptr<const snapshot> resumed = {}; ///< Goes on from this.
  const recipe* method = nullptr;               ///< Not null, as the next one.
  std::shared_ptr<const models::layout> blocks = {};
  std::size_t groups = 0; ///< See `loads`, also for the next one.
  std::optional<policies::request_watch> asked = {};
};

struct director_state {
  static inline constexpr const char* name = "director";

  director_args args;
  std::optional<course> plan;     // Set before the first message arrives.
  std::optional<loads> used;      // Likewise: by visits, for who watches.
  instant armed = instant::max(); // The earliest tick under way.
  std::string failure;            ///< Of the last save; empty: it succeeded.
};

using director_impl =
  director_actor::extend<caf::reacts_to<messages::save_requested>,
                         caf::reacts_to<caf::tick_atom>>;

/// Carries out the course: tells the gateway whom to invite, the lines which
/// visits a round holds, the archivist what must not be forgotten. It begins
/// with a first tick, or goes on from where it was.
director_impl::behavior_type
director(director_impl::stateful_pointer<director_state> self,
         director_args args);

} // namespace troupe::actors
