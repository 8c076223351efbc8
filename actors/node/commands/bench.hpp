#pragma once

#include "actors/node/command.hpp"
#include "actors/node/run/workload.hpp"

namespace troupe::node {

/// The project's own figures, each with what it is compared with, its ratio and
/// bar.
exit_code bench_command(const model_maker& make_model, arguments args,
                        streams io);

} // namespace troupe::node
