#pragma once

#include <map>
#include <memory>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/interfaces.hpp"
#include "actors/metrics/status.hpp"
#include "actors/record/arrivals.hpp"
#include "actors/record/store.hpp"

namespace troupe::actors {

struct archivist_args {
  std::shared_ptr<store> books; ///< Used by this actor alone while it lives.
  std::shared_ptr<arrivals> arrived = {}; ///< Null: nobody asks for it.
  bool events = false;                    ///< Notes versions.
  caf::actor_clock::time_point started;   ///< The run's instant zero.
};

struct archivist_state {
  static inline constexpr const char* name = "archivist";

  archivist_args args;
  std::map<line_id, version> noted; ///< The last of each line.
  storage_times times{};            ///< For who watches.
};

/// Makes durable what it is asked to, one transaction each. It may wait for a
/// disk, so under the wall clock it has a thread of its own.
archivist_actor::behavior_type
archivist(archivist_actor::stateful_pointer<archivist_state> self,
          archivist_args args);

} // namespace troupe::actors
