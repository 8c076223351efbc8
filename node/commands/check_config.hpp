#pragma once

#include "node/commands/command.hpp"

namespace troupe::node {

/// Says whether a configuration is usable, what its method discloses, and how
/// the method stands to its publication in this pace.
exit_code check_config(const host_facts& known, arguments args, streams io);

} // namespace troupe::node
