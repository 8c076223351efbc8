#pragma once

#include "node/commands/command.hpp"
#include "node/task/materials.hpp"

namespace troupe::node {

/// `troupe predict RUN --data FILE --to FILE`.
exit_code predict_command(const model_maker& make_model, arguments args,
                          streams io);

} // namespace troupe::node
