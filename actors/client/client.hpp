#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/client/dialogue.hpp"
#include "actors/interfaces.hpp"
#include "actors/transport/endpoint.hpp"
#include "actors/world/virtual_life.hpp"

namespace troupe::actors {

struct client_args {
  dialogue::options options;
  std::shared_ptr<transport::endpoint> network;
  std::shared_ptr<vault> files;
  kernel_worker_actor worker;
  caf::actor_clock::time_point started; ///< The run's instant zero.
  virtual_life::options life = {};      ///< Of a client that is simulated.
  std::shared_ptr<const snapshot> resumed = {}; ///< Goes on from this.
  /// Told why it is gone for good. May be empty.
  std::function<void(client_id, const messages::farewell&)> left = {};
};

struct client_actor_state {
  static inline constexpr const char* name = "client";

  client_args args;
  std::optional<dialogue> talk;        // Set before the first message arrives.
  std::optional<virtual_life> life;    // Likewise.
  std::deque<dialogue::action> queued; ///< Behind a file that is being kept.
  bool keeping = false;
  bool greeted = false;
  instant armed = instant::max();
};

using client_impl = client_actor::extend<caf::reacts_to<caf::tick_atom>,
                                         // Its file is kept.
                                         caf::reacts_to<caf::ok_atom>>;

/// A client: says what its dialogue says, has its work done, keeps its file. Of
/// its own accord it says nothing before its first tick.
client_impl::behavior_type
client(client_impl::stateful_pointer<client_actor_state> self,
       client_args args);

} // namespace troupe::actors
