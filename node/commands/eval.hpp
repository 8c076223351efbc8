#pragma once

#include "node/commands/command.hpp"
#include "node/task/materials.hpp"

namespace troupe::node {

/// `troupe eval RUN --matrix`, `--routing` or `--writing`, and `troupe eval
/// --model PATH --text FILE` or `--prompts FILE`.
exit_code eval_command(const model_maker& make_model, arguments args,
                       streams io);

} // namespace troupe::node
