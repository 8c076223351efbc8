#pragma once

#include "node/commands/command.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// The project's own figures, each with what it is compared with, its ratio and
/// bar, and whose kernels they are of.
exit_code bench_command(const model_maker& make_model, const host_facts& known,
                        arguments args, streams io);

} // namespace troupe::node
