#pragma once

// From a configuration to the arguments of a node.

#include "actors/wiring.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// Who is invited, how versions are made and when it ends. What the two clocks
/// differ in, and everything that is shared with others (store, network,
/// workshop, …), is left for the caller. `w` outlives the result.
actors::node_args plan_of(const experiment& x, const workload& w);

/// The same where clients live in processes of their own, and on when this one
/// is killed.
actors::node_args plan_from_afar(const experiment& x, const workload& w);

} // namespace troupe::node
