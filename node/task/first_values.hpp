#pragma once

// Where a run begins: from its seed, or from a file of weights.

#include <map>
#include <optional>

#include "core/result.hpp"
#include "core/values.hpp"
#include "models/layout.hpp"
#include "models/local_trainer.hpp"
#include "models/objective.hpp"
#include "models/shapes.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// Of all travelling blocks. Returns `invalid_config` if the file does not fit.
[[nodiscard]] result<std::map<block_id, shared_values>>
first_values(const experiment& x, models::objective& model,
             const models::layout& blocks,
             const std::optional<models::adapter_plan>& adapters);

/// Gives the task the adapters that clients keep, and the model that nobody
/// trains: a file's, if one is said.
[[nodiscard]] result<void> complete(const experiment& x,
                                    models::objective& model,
                                    models::local_task& task);

} // namespace troupe::node
