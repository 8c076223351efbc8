#pragma once

#include "node/commands/command.hpp"

namespace troupe::node {

/// `troupe join`: clients of a run that is served elsewhere.
exit_code join_command(const model_maker& make_model, arguments args,
                       streams io);

} // namespace troupe::node
