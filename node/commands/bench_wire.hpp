#pragma once

#include <vector>

#include "node/commands/figure.hpp"

namespace troupe::node {

/// What a run costs whose server and clients are processes, each figure beside
/// ZeroMQ alone with as many bytes.
std::vector<figure> wire_figures();

} // namespace troupe::node
