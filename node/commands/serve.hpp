#pragma once

#include "node/commands/command.hpp"

namespace troupe::node {

/// `troupe serve`: a run whose clients come from other processes.
exit_code serve_command(const model_maker& make_model, const host_facts& known,
                        arguments args, streams io);

} // namespace troupe::node
