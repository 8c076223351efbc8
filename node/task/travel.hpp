#pragma once

// How long visits of virtual clients take, and which come to nothing.

#include <functional>
#include <memory>

#include "core/clock.hpp"
#include "models/trainer.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

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
