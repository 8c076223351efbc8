#pragma once

#include "core/recipe.hpp"
#include "core/result.hpp"
#include "models/procedure.hpp"

namespace troupe::models {

/// Returns `invalid_config` with what would do where the configured optimiser
/// is none that the method's procedures can step with: each visit would fail.
[[nodiscard]] result<void> check_optimiser(const recipe& method,
                                           const training_options& how);

} // namespace troupe::models
