#pragma once

#include "models/adapters/adapters.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// Whether a model has a layer that says what a row is ("head.…").
bool has_head(const tensor_list& model);

/// Adds the layer that says what a row is ("head.…") to a plan, each tensor of
/// it whole: it is small, and all that it says is new, so a product of low rank
/// beside it would be the wrong thing. A model without such a layer has nothing
/// to add. @pre the plan is of this model
void add_head(const tensor_list& model, adapter_plan& to);

} // namespace troupe::models
