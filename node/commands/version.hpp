#pragma once

#include "node/commands/command.hpp"

namespace troupe::node {

exit_code version_command(arguments args, streams io);

} // namespace troupe::node
