#pragma once

#include <map>
#include <memory>

#include <caf/actor_system.hpp>

#include "actors/client/client_file.hpp"
#include "actors/client/hub.hpp"
#include "actors/interfaces.hpp"
#include "node/run/federation.hpp"
#include "node/run/herald.hpp"

namespace troupe::node {

/// The clients of a run that live in this process, and the world that they live
/// in.
class clients {
public:
  /// Who and what is beside them.
  struct neighbours {
    std::shared_ptr<actors::client_hub> hub;
    std::shared_ptr<actors::vault> files;
    std::shared_ptr<world_place> heard; ///< Where the server finds the world.
    actors::kernel_worker_actor worker;
    caf::actor_clock::time_point started;
  };

  /// `f` and `system` outlive this.
  clients(const federation& f, caf::actor_system& system);

  /// They say hello at once: the server must be there.
  result<void> start(neighbours in);

  /// Has all of them add their state. @pre no mail is under way
  void ask_for_state(const std::shared_ptr<actors::snapshot_draft>& draft);

  /// Has the world say what mail waits for it; of clients there may be many.
  void answer(const std::shared_ptr<actors::status_draft>& draft);

  /// Lets them end; they are gone when their mail is delivered.
  void close();

private:
  const federation& f_;
  caf::actor_system& system_;
  std::map<client_id, actors::client_actor> all_;
  std::shared_ptr<world_place> heard_;
};

} // namespace troupe::node
