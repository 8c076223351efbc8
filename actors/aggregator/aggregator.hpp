#pragma once

#include <chrono>
#include <optional>

#include <caf/stateful_actor.hpp>
#include <caf/timespan.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/aggregator/ledger.hpp"
#include "actors/interfaces.hpp"
#include "core/patience.hpp"

namespace troupe::actors {

struct aggregator_args {
  ledger::options options;
  ledger::durable found; ///< What the archivist's store held at the start.
  /// Kept by the process before this one, without values.
  std::vector<messages::part_offered> arrived = {};
  cast_ptr others;
  patience waits = {};
  std::shared_ptr<const snapshot> resumed = {}; ///< Goes on from this.
};

struct aggregator_state {
  static inline constexpr const char* name = "aggregator";

  aggregator_args args;
  std::optional<ledger> book; // Set before the first message arrives.

  // What the ledger cannot know.
  duration_counts merges;
  duration_counts commits;
  std::uint64_t merged_bytes = 0;
  std::string failure; ///< Of the last request; empty: it succeeded.
  std::string unkept;  ///< Likewise, of the last offer for the disk.
};

/// The public protocol plus what the actor sends to itself.
using aggregator_impl =
  aggregator_actor::extend<caf::reacts_to<caf::tick_atom>>;

/// The writer of one version line: has full batches merged by the merger and
/// made durable by the archivist, and only then answers and announces. Every
/// decision is the ledger's; this is the wiring.
aggregator_impl::behavior_type
aggregator(aggregator_impl::stateful_pointer<aggregator_state> self,
           aggregator_args args);

} // namespace troupe::actors
