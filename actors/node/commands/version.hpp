#pragma once

#include "actors/node/command.hpp"

namespace troupe::node {

exit_code version_command(arguments args, streams io);

} // namespace troupe::node
