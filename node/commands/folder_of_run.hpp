#pragma once

#include <string>

#include "node/commands/command.hpp"

namespace troupe::node {

/// What a command says that has asked a run's server and found none: the run
/// goes on, or has ended.
failure nobody_serves(const std::string& folder);

} // namespace troupe::node
