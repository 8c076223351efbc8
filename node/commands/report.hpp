#pragma once

#include "node/commands/command.hpp"

namespace troupe::node {

/// Makes the page of a run's folder.
exit_code report_command(arguments args, streams io);

} // namespace troupe::node
