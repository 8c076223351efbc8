#pragma once

#include "node/commands/command.hpp"

namespace troupe::node {

/// `troupe trace RUN`: trace.json, for viewers of traces.
exit_code trace_command(arguments args, streams io);

} // namespace troupe::node
