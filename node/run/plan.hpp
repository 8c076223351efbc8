#pragma once

// From a configuration to the arguments of actors.

#include <functional>
#include <memory>

#include "actors/client/client.hpp"
#include "node/task/workload.hpp"
#include "actors/wiring.hpp"

namespace troupe::node {

/// How versions are made, who is invited and when it ends. What the two clocks
/// differ in, and everything that is shared with others (store, network,
/// workshop, …), is left for the caller. `w` outlives the result.
actors::node_args plan_of(const experiment& x, const workload& w);

/// The same for one client.
actors::client_args client_of(const experiment& x, const workload& w,
                              client_id who);

/// Kernel workers, resolved.
std::size_t worker_count(const experiment& x);

/// How long visits take under the virtual clock: the way down, steps over the
/// speed of the client's device, the way up. Whoever is asked for steps lives
/// on in the result.
std::function<instant(const models::visit_input&)>
durations_of(const experiment& x, const workload& w,
             std::shared_ptr<const models::trainer> steps);

/// Which visits end without an offer; empty: none.
std::function<bool(const models::visit_input&)>
drop_outs_of(const experiment& x);

} // namespace troupe::node
