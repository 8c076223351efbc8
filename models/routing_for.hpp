#pragma once

#include "core/recipe.hpp"
#include "core/result.hpp"
#include "models/inner_adapters.hpp"

namespace troupe::models {

/// How a recipe that has experts routes tokens, by all of its options. Returns
/// `invalid_config` where one is said that its gate does not know.
[[nodiscard]] result<routing_options> routing_for(const recipe& method,
                                                  const options& all);

} // namespace troupe::models
