#pragma once

// The other half of the composition root: clients, who are no part of a node.

#include <functional>
#include <memory>

#include <caf/actor_system.hpp>

#include "actors/client/client.hpp"
#include "actors/interfaces.hpp"
#include "actors/kernel_worker/workshop.hpp"
#include "actors/world/world.hpp"

namespace troupe::actors {

/// A client of this process. It is told to say its first word behind `connect`:
/// an answer finds nobody before.
client_actor
start_client(caf::actor_system& system, client_args args,
             const std::function<void(const client_actor&)>& connect);

/// What happens to the clients of this process.
world_actor start_world(caf::actor_system& system, world_args args);

/// Does the work of clients, in this workshop.
kernel_worker_actor start_worker(caf::actor_system& system,
                                 std::shared_ptr<workshop> jobs);

} // namespace troupe::actors
