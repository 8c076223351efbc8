#pragma once

#include "core/recipe.hpp"
#include "core/result.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// The catalogue's recipe, with what the configuration says about buffers,
/// merging, options and who is invited more often. @pre the configuration was
/// checked
[[nodiscard]] result<recipe> recipe_of(const experiment& x);

} // namespace troupe::node
