#pragma once

#include "node/config/experiment.hpp"
#include "node/task/workload.hpp"
#include "node/watch/summary.hpp"

namespace troupe::node {

/// What it takes to serve one who was never invited, from the recipe and the
/// sizes of its blocks: values of four bytes down, the request of eight bytes a
/// number up. Nobody measures it, since they are scored where the rows are; a
/// test holds it against what a visit is sent, in frames.
void put_costs_of_strangers(run_summary& to, const experiment& x,
                            const workload& work);

} // namespace troupe::node
