#pragma once

#include "node/task/workload.hpp"
#include "node/watch/summary.hpp"

namespace troupe::node {

/// What it takes to serve one who was never invited, from the recipe and the
/// sizes of its blocks: values of four bytes down, the request of eight bytes a
/// number up; none where none was scored. Nobody measures it, since they are
/// scored where the rows are; a test holds it against what a visit is sent, in
/// frames.
/// @pre `to` has its scores
void put_costs_of_strangers(run_summary& to, const workload& work);

} // namespace troupe::node
