#pragma once

#include "node/commands/command.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// How many rows of each label each client has, and for what.
/// @pre x.data.is_labelled_text()
exit_code inspect_labelled(const experiment& x, bool json, streams io);

} // namespace troupe::node
