#pragma once

#include "node/commands/command.hpp"

namespace troupe::node {

/// Says what a run waits for, from its folder.
exit_code why_command(arguments args, streams io);

} // namespace troupe::node
