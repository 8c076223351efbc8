#pragma once

#include "node/commands/command.hpp"

namespace troupe::node {

/// `data inspect FILE`: who holds which labels.
exit_code data(arguments args, streams io);

} // namespace troupe::node
