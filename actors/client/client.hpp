#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/client/dialogue.hpp"
#include "actors/interfaces.hpp"
#include "actors/transport/endpoint.hpp"

namespace troupe::actors {

struct client_args {
  dialogue::options options;
  std::shared_ptr<transport::endpoint> network;
  std::shared_ptr<vault> files;
  kernel_worker_actor worker;
  caf::actor_clock::time_point started; ///< The run's instant zero.
  /// How long a visit takes under the virtual clock; known before it is
  /// computed.
  std::function<instant(const models::visit_input&)> duration;
  /// Whether a visit's work is never offered; empty: all is.
  std::function<bool(const models::visit_input&)> drops_out = {};
  std::shared_ptr<const snapshot> resumed = {}; ///< Goes on from this.
  bool absent = false;                          ///< Until it is told to come.
};

struct client_actor_state {
  static inline constexpr const char* name = "client";

  client_args args;
  std::optional<dialogue> talk; // Set before the first message arrives.
  bool greeted = false;
  bool down = false; ///< It crashed, or did not come yet: hears nothing.
  instant armed = instant::max();
  /// Jobs under way and when they are due, also of withdrawn visits.
  std::map<visit_id, std::pair<instant, dialogue::job>> jobs;
};

using client_impl = client_actor::extend<caf::reacts_to<caf::tick_atom>>;

/// A client: says what its dialogue says, has its work done, keeps its file.
client_impl::behavior_type
client(client_impl::stateful_pointer<client_actor_state> self,
       client_args args);

} // namespace troupe::actors
