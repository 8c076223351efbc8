#pragma once

#include "node/commands/command.hpp"

namespace troupe::node {

/// Writes the model of a run for use elsewhere: a base and its adapters as
/// plain weights, or one of its blocks.
exit_code export_command(arguments args, streams io);

} // namespace troupe::node
