#pragma once

#include "core/ids.hpp"
#include "core/recipe.hpp"
#include "core/result.hpp"
#include "models/data/example_set.hpp"

namespace troupe::models {

/// Refuses clients who train and have no validation rows of their own, where
/// the recipe's visits look at these: its clients have lines of their own.
/// Returns `invalid_config`, with the first of them.
result<void> check_own_validation(const recipe& method,
                                  const partition& clients);

/// That this client has none.
tl::unexpected<error> lacks_own_validation(const recipe& method, client_id x);

} // namespace troupe::models
