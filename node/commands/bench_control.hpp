#pragma once

#include <vector>

#include "node/commands/figure.hpp"

namespace troupe::node {

/// What small frames take from a client to the server and back.
std::vector<figure> control_figures();

} // namespace troupe::node
