#pragma once

// The composition root: the only place that spawns. What it makes is the same
// under each clock and in the simulator; they differ in what they put in.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <caf/all.hpp>

#include "actors/director/director.hpp"
#include "actors/gateway/gateway.hpp"
#include "actors/interfaces.hpp"
#include "actors/publisher/publisher.hpp"
#include "actors/record/store.hpp"
#include "actors/roster/attendance.hpp"
#include "core/limits.hpp"
#include "core/patience.hpp"

namespace troupe::actors {

struct line_rules;

struct node_args {
  std::shared_ptr<const models::layout> blocks;
  const recipe* method = nullptr;
  std::shared_ptr<const line_rules> lines;
  actors::course::options course; ///< Lines and lead come from the layout.
  actors::attendance::options attendance;
  policies::weight_kind weighting = policies::weight_kind::examples;
  double norm_max = 0;
  std::size_t groups = 0; ///< Of clients, where they are known: see `loads`.
  /// What visits asked for before a node is built. May be empty.
  std::function<std::optional<policies::request_watch>()> asked = {};
  models::watched metric = models::watched::accuracy; ///< Of `course.stop`.
  std::uint64_t evaluate_every = 0;
  bool evaluate_at_end = true;
  bool score_clients = false; ///< At each evaluation, and not only at the end.
  bool announce = false;
  bool events = false;
  bool outlived = false; ///< By clients, when this process is killed.
  /// Whether a peer may say hello as a client. Empty: any may.
  std::function<std::optional<bool>(peer_id, client_id)> may_speak = {};
  /// Clients score themselves there. Empty: the evaluator scores them all.
  processes_elsewhere processes = {};
  /// Then: where each node that is built counts its questions from, unlike all
  /// before it. Empty: from 0.
  std::function<std::uint64_t()> first_question = {};
  std::shared_ptr<transport::refusals> refused = {};
  /// Of tickets: the ledger's key, unless they have others.
  std::shared_ptr<seals> tickets = std::make_shared<seals>();
  std::size_t versions_bytes_max = limits::versions_bytes_max;

  std::shared_ptr<store> books;
  /// What they hold, for a node that starts for the first time to take; null:
  /// it reads them, as every other time. May be empty.
  std::function<stored_node*()> found = {};
  /// Of offers that wait in memory, where the store has room for others.
  std::uint64_t offers_bytes_max = ~std::uint64_t{0};
  std::shared_ptr<kernels::backend> arithmetic; ///< Of the merger alone.
  std::shared_ptr<models::trainer> evaluator;   ///< Of the evaluator alone.
  std::shared_ptr<audience> watching;
  std::shared_ptr<transport::endpoint> network;
  std::shared_ptr<traffic> counted;
  /// What a node that starts for the first time goes on from; null: from what
  /// is durable, as every other time.
  std::function<std::shared_ptr<const snapshot>()> resumed;
  /// Told of the gateway, so that frames find it.
  std::function<void(const cast&)> started_as;
  /// Told of each offer that is screened, the first time. May be empty.
  std::function<void(visit_id, double loss)> offered = {};
  /// Given each offer whole, before the record names it. False: it could not be
  /// kept, and is to be said again. May be empty.
  std::function<bool(const messages::offer_made&, std::uint64_t examples)>
    keeps = {};
  /// Stands between the archivist or the merger and those who use them; the
  /// simulator's faults come in here.
  std::function<merger_actor(merger_actor)> around_merger;
  std::function<archivist_actor(archivist_actor)> around_archivist;

  caf::actor_clock::time_point started; ///< The run's instant zero.
  patience waits = {};
  bool detached = false; ///< Threads of their own for disk and arithmetic.
  bool held_out = false; ///< Some clients are never invited: scored each time.
  bool score_aside = true; ///< What was set aside: else at the end alone.
};

/// The actors of a node, from what is durable. @pre its lines have begun
result<std::vector<caf::actor>> build_node(caf::actor_system& system,
                                           const node_args& args);

/// A node that begins again from its store when one of its actors breaks.
caf::actor start_node(caf::actor_system& system, node_args args,
                      std::function<void(const std::string&)> broke = {});

} // namespace troupe::actors
