#pragma once

#include "node/commands/command.hpp"
#include "node/task/materials.hpp"

namespace troupe::node {

/// `troupe eval RUN --matrix`.
exit_code eval_command(const model_maker& make_model, arguments args,
                       streams io);

} // namespace troupe::node
