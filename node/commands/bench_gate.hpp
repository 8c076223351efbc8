#pragma once

// What a gate and its experts cost: a step with two of them, the scores of a
// client's rows, and the server's part of a request.

#include <string>
#include <vector>

#include "node/commands/figure.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// `joint_step`: a visit that trains two experts of an example's model with
/// their gate, over two visits that train one each, the three in turn.
/// `gate_scores`: of 500 rows of width 64. `request`: what a server does of a
/// visit that asks for two of a thousand experts, but for its sockets: seal,
/// grants, and the way through the router.
std::vector<figure> gate_figures(const model_maker& make_model,
                                 const std::string& example);

} // namespace troupe::node
