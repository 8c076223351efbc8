#pragma once

// Adapters that stand inside the layers of a model that is composed elsewhere.

#include "core/result.hpp"
#include "core/values.hpp"
#include "models/local_trainer.hpp"
#include "node/task/materials.hpp"

namespace troupe::node {

/// The weights that adapters stand beside: those that nobody trains, or zeros,
/// to which a base that learns is added. @pre the task has adapters
shared_values base_of(const models::local_task& task);

/// From here on who trains has a model by `make`. Returns `invalid_config`
/// where a layer cannot have an adapter beside it, or a procedure trains
/// weights and knows nothing of groups.
[[nodiscard]] result<void> stand_inside(const inner_maker& make,
                                        models::local_task& task);

} // namespace troupe::node
