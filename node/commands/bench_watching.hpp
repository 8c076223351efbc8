#pragma once

// What it costs a run that somebody looks at it.

#include "node/commands/figure.hpp"

namespace troupe::node {

/// CPU of an idle visit while a run has `--http` and is asked for its metrics
/// once a second, over that of the same run while it has not, in turn.
figure watching_figure();

} // namespace troupe::node
