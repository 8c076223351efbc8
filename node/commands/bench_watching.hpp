#pragma once

// What it costs a run that somebody looks at it.

#include "node/commands/figure.hpp"

namespace troupe::node {

/// CPU of an idle visit where a run has `--http` and is asked for its metrics
/// once a second, over that of the same run alone, the two in turn.
figure watching_figure();

} // namespace troupe::node
