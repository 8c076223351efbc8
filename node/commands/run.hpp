#pragma once

#include "node/commands/command.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// A whole federation in this process: progress on `err`, the result on `out`.
exit_code run_command(const model_maker& make_model, const host_facts& known,
                      arguments args, streams io);

} // namespace troupe::node
