#pragma once

#include <vector>

#include "node/commands/figure.hpp"

namespace troupe::node {

/// What ten thousand idle clients with keys cost a server, by a connection each
/// and by ten.
std::vector<figure> crowd_figures();

} // namespace troupe::node
