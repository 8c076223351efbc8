#pragma once

#include "node/commands/command.hpp"

namespace troupe::node {

/// `data inspect FILE`: who holds which labels, or what a model is. `data
/// tokens FILE`: what a text is in tokens. `data tokenizer PATH`: learns one.
exit_code data(arguments args, streams io);

} // namespace troupe::node
