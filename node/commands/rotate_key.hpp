#pragma once

#include "node/commands/command.hpp"

namespace troupe::node {

/// `troupe keys rotate RUN`: another key for a served run's invitations.
exit_code rotate_key(arguments args, streams io);

} // namespace troupe::node
