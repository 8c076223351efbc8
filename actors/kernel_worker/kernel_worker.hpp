#pragma once

#include <memory>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/interfaces.hpp"
#include "actors/kernel_worker/workshop.hpp"
#include "kernels/backend.hpp"
#include "models/layout.hpp"

namespace troupe::actors {

struct kernel_worker_args {
  std::shared_ptr<kernels::backend> arithmetic; ///< Used by this actor alone.
  std::shared_ptr<const models::layout> blocks;
  std::shared_ptr<workshop> jobs;             ///< For clients; may be shared.
  std::shared_ptr<models::trainer> evaluator; ///< Used by this actor alone.
};

struct kernel_worker_state {
  static inline constexpr const char* name = "kernel_worker";

  kernel_worker_args args;
};

/// Merges and evaluations are computed here and now; a client's work goes to
/// the workshop, whose threads do not hold up an actor.
kernel_worker_actor::behavior_type
kernel_worker(kernel_worker_actor::stateful_pointer<kernel_worker_state> self,
              kernel_worker_args args);

} // namespace troupe::actors
