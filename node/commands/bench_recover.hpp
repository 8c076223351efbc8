#pragma once

#include <vector>

#include "node/commands/figure.hpp"

namespace troupe::node {

/// How long clients wait for a server that was killed and started again.
std::vector<figure> recover_figures();

} // namespace troupe::node
