#pragma once

#include "node/commands/command.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// How much text each user has, and for what. @pre x.data.is_language()
exit_code inspect_language(const experiment& x, bool json, streams io);

} // namespace troupe::node
