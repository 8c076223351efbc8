#pragma once

#include "node/commands/command.hpp"
#include "node/task/materials.hpp"

namespace troupe::node {

/// `troupe eval RUN --matrix`, `troupe eval RUN --routing`, `troupe eval
/// --model PATH --text FILE`, and `troupe eval --model PATH --prompts FILE`.
exit_code eval_command(const model_maker& make_model, arguments args,
                       streams io);

} // namespace troupe::node
