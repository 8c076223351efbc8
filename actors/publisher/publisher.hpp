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
  version_heads heads;         ///< At the start.
  std::optional<line_id> lead; ///< Whose versions are evaluated; none: any.
  std::uint64_t evaluate_every = 0; ///< Versions; 0: only at the end.
  bool evaluate_at_end = true;
  bool score_clients = false; ///< Each time, and not only at the end.
  std::shared_ptr<audience> watching;
  cast_ptr others;
  caf::actor_clock::time_point started; ///< The run's instant zero.
  patience waits = {};
  bool held_out = false; ///< Some are never invited: scored each time.
  bool offers = true; ///< Else no version comes, and rounds take their place.
  bool score_aside = true; ///< What was set aside: else at the end alone.
};

struct publisher_state {
  static inline constexpr const char* name = "publisher";

  /// A version that is to be scored.
  struct occasion {
    line_id line;
    version head;
    std::uint64_t rounds = 0; ///< Where no version comes: how many are over.
  };

  publisher_args args;
  std::optional<occasion> due; ///< The newest one waits, and no other.
  bool armed = false;          ///< Asked for when this instant is over.
  bool under_way = false;
  std::uint64_t scored_before = 0; ///< The last round scored before this began.
  std::uint64_t rounds = 0; ///< Where no version comes: the last counted.
  std::optional<messages::run_finished> ending = {};
};

using publisher_impl = publisher_actor::extend<caf::reacts_to<caf::tick_atom>>;

/// "Line l is at version v": to the gateway, the record and the audience; has
/// every n-th version scored, with all lines as they are when its instant is
/// over, and the director told. Of who offers nothing no version ever comes:
/// then every n-th round is scored, once, also where the node began again. One
/// evaluation is under way at a time.
publisher_impl::behavior_type
publisher(publisher_impl::stateful_pointer<publisher_state> self,
          publisher_args args);

} // namespace troupe::actors
