#pragma once

#include "node/commands/command.hpp"

namespace troupe::node {

/// `troupe keys VERB`: who may speak with a server.
exit_code keys_command(arguments args, streams io);

} // namespace troupe::node
