#pragma once

// What fixed versions are worth on the rows of this host.

#include <optional>

#include "models/local_site.hpp"

namespace troupe::models {

/// Scores all versions together, and each client as it would use them itself.
/// Under a recipe that offers nothing there is no global model, and the global
/// scores are empty. What is known already is taken as it is.
/// @param model is made live, again and again
result<evaluated> scores_of(const evaluation_input& x, const local_site& at,
                            objective& model);

} // namespace troupe::models
