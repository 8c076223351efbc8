#pragma once

#include "node/commands/command.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// `troupe replay RUN`.
exit_code replay_command(const model_maker& make_model, const host_facts& known,
                         arguments args, streams io);

} // namespace troupe::node
