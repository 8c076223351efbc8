#pragma once

#include "node/commands/command.hpp"

namespace troupe::node {

/// Ends a run that is served, in order.
exit_code stop_command(arguments args, streams io);

} // namespace troupe::node
