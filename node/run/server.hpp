#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <caf/actor_system.hpp>

#include "actors/client/client_file.hpp"
#include "actors/client/hub.hpp"
#include "actors/interfaces.hpp"
#include "actors/wiring.hpp"
#include "node/run/federation.hpp"
#include "node/run/patient_questions.hpp"

namespace troupe::node {

/// The node of a run: all of its actors but the clients and their worker.
class server {
public:
  /// Who and what is beside it.
  struct neighbours {
    /// Told of each gateway, the first one and those of a node that begins
    /// again.
    std::shared_ptr<actors::server_hub> hub;
    /// Where clients of this process keep what is scored at home. Null: they
    /// are elsewhere, and are not scored.
    std::shared_ptr<const actors::vault> files;
    std::shared_ptr<actors::audience> watching;
    caf::actor_clock::time_point started;
    patient_keeper keeps = {}; ///< May be empty.
  };

  /// `f` and `system` outlive this.
  server(const federation& f, caf::actor_system& system);

  /// Under the wall clock it returns when the node can be spoken to.
  result<void> start(neighbours in);

  /// Says to each node once that the run is to end.
  void obey();

  /// Has the node forget whose keys were denied, and the server's own change.
  /// To be called now and then.
  void look_after_keys();

  /// Has the node add its state. @pre no mail is under way
  void ask_for_state(const std::shared_ptr<actors::snapshot_draft>& draft);

  /// Has the node say where it stands.
  void answer(const std::shared_ptr<actors::status_draft>& draft);

  /// What processes say of their clients' scores.
  void heard(const messages::scores_heard& x);

  /// Lets the node end; it is gone when its mail is delivered.
  void close();

private:
  void serve_others(actors::node_args& args) const;
  void wait_for_node();
  void tell_denied(client_id x);

  const federation& f_;
  caf::actor_system& system_;
  caf::actor node_;
  std::vector<instant> breaks_; ///< When the node broke, lately.
  std::mutex mutex_;
  std::condition_variable bound_;
  actors::cast cast_;
  bool told_ = false; ///< This node: the run is to end.
  /// Whose keys were, at some time: a node that begins again may know of offers
  /// of theirs that the one before had not dropped yet.
  std::set<client_id> denied_;
  patient_questions questions_;
};

} // namespace troupe::node
