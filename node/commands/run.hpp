#pragma once

#include "node/commands/command.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// A whole federation in this process: progress on `err`, the result on `out`.
exit_code run_command(const model_maker& make_model, const host_facts& known,
                      arguments args, streams io);

struct run_summary;

/// A run's result as a command ends with it.
exit_code conclude(const run_summary& x, bool json, streams io,
                   exit_code interrupted = exit_code::interrupted);

/// It is the process's own, and somebody looks at it.
bool is_terminal(const std::ostream& x);

} // namespace troupe::node
