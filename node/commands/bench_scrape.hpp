#pragma once

#include <vector>

#include "node/commands/figure.hpp"

namespace troupe::node {

/// What an answer of /metrics takes of a served run with 10,000 clients and a
/// hundred version lines, with what its director says for it, and how many
/// bytes it has.
std::vector<figure> scrape_figures();

} // namespace troupe::node
