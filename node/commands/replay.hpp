#pragma once

#include "node/commands/command.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// `troupe replay RUN`.
exit_code replay_command(const model_maker& make_model,
                         const surroundings& known, arguments args, streams io);

} // namespace troupe::node
