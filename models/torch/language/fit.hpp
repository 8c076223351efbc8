#pragma once

#include "core/result.hpp"
#include "models/language/spec.hpp"
#include "models/language/token_rows.hpp"

namespace troupe::models {

/// Returns `invalid_config` where rows have ids that the model lacks, types of
/// tokens that it lacks while it has some, or are longer than it takes.
[[nodiscard]] result<void> check_fit(const language_spec& model,
                                     const token_rows& from);

} // namespace troupe::models
