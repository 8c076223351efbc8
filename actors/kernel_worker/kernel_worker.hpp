#pragma once

#include <memory>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/interfaces.hpp"
#include "actors/kernel_worker/workshop.hpp"

namespace troupe::actors {

struct kernel_worker_state {
  static inline constexpr const char* name = "kernel_worker";

  std::shared_ptr<workshop> jobs;
};

/// A client's work goes to the workshop, whose threads do not hold up an actor.
kernel_worker_actor::behavior_type
kernel_worker(kernel_worker_actor::stateful_pointer<kernel_worker_state> self,
              std::shared_ptr<workshop> jobs);

} // namespace troupe::actors
