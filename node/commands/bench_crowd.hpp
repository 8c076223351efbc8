#pragma once

#include <vector>

#include "node/commands/figure.hpp"

namespace troupe::node {

/// What ten thousand idle clients cost a server, a connection each.
std::vector<figure> crowd_figures();

} // namespace troupe::node
