#pragma once

#include "actors/node/command.hpp"

namespace troupe::node {

/// `data inspect FILE`: who holds which labels.
exit_code data(arguments args, streams io);

} // namespace troupe::node
