#pragma once

// The composition root: the only place that spawns. What it makes is the same
// under each clock and in the simulator; they differ in what they put in.

#include <functional>
#include <memory>
#include <vector>

#include <caf/all.hpp>

#include "actors/aggregator/ledger.hpp"
#include "actors/client/client.hpp"
#include "actors/director/director.hpp"
#include "actors/gateway/gateway.hpp"
#include "actors/interfaces.hpp"
#include "actors/kernel_worker/workshop.hpp"
#include "actors/publisher/publisher.hpp"
#include "actors/record/store.hpp"
#include "actors/roster/attendance.hpp"
#include "actors/world/world.hpp"
#include "policies/staleness.hpp"

namespace troupe::actors {

/// What all lines have in common; their blocks come from the layout.
struct line_rules {
  policies::admission_limits admission;
  policies::staleness_discount discount;
  kernels::server_step step;
  std::size_t buffer_size = 8;
  bool target_is_model = false;
};

struct node_args {
  std::shared_ptr<const models::layout> blocks;
  const recipe* method = nullptr;
  line_rules lines;
  programme::options programme; ///< Lines and lead come from the layout.
  attendance::options attendance;
  policies::weight_kind weighting = policies::weight_kind::examples;
  double norm_max = 0;
  stop_metric metric = stop_metric::accuracy;
  std::uint64_t evaluate_every = 0;
  bool evaluate_at_end = true;
  bool announce = false;
  bool events = false;

  std::shared_ptr<store> books;
  std::shared_ptr<kernels::backend> arithmetic;
  std::shared_ptr<workshop> jobs;
  std::shared_ptr<models::trainer> evaluator;
  std::shared_ptr<audience> watching;
  std::shared_ptr<transport::endpoint> network;
  std::shared_ptr<traffic> counted;
  /// Connected when the node starts (again).
  std::function<std::vector<transport::peer_id>()> peers;
  /// What a node that starts for the first time goes on from; null: from what
  /// is durable, as every other time.
  std::function<std::shared_ptr<const snapshot>()> resumed;
  /// Told of the gateway, so that frames find it.
  std::function<void(const cast&)> started_as;
  /// Stands between the archivist or the workers and those who use them; the
  /// simulator's faults come in here.
  std::function<kernel_worker_actor(kernel_worker_actor)> around_worker;
  std::function<archivist_actor(archivist_actor)> around_archivist;

  caf::actor_clock::time_point started; ///< The run's instant zero.
  caf::timespan merge_timeout = std::chrono::seconds{600};
  caf::timespan commit_timeout = std::chrono::seconds{60};
  caf::timespan retry_after = std::chrono::seconds{1};
  bool detached = false; ///< Threads of their own for disk and arithmetic.
};

/// How a line merges.
ledger::options ledger_options(const node_args& args,
                               const models::line_layout& line);

/// Version 0 of each line, where the store has none.
result<void> begin_lines(store& books, const models::layout& blocks,
                         const std::map<block_id, shared_values>& initial);

/// The actors of a node, from what is durable. @pre `begin_lines` succeeded
std::vector<caf::actor> build_node(caf::actor_system& system,
                                   const node_args& args);

/// A node that begins again from its store when one of its actors breaks.
caf::actor start_node(caf::actor_system& system, node_args args,
                      std::function<void(const std::string&)> broke = {});

/// A client of this process.
client_actor start_client(caf::actor_system& system, client_args args);

/// What happens to the clients of this process.
world_actor start_world(caf::actor_system& system, world_args args);

/// A kernel worker that only does clients' work.
kernel_worker_actor start_worker(caf::actor_system& system,
                                 const node_args& args);

} // namespace troupe::actors
