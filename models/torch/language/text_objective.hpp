#pragma once

#include <memory>

#include "core/result.hpp"
#include "models/language/base.hpp"
#include "models/language/language_config.hpp"
#include "models/language/token_rows.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// What a base is asked for: by its head which class a row is of, or where it
/// is answered; without one the next token. Returns `invalid_config` where base
/// and rows do not fit.
[[nodiscard]] result<std::unique_ptr<objective>>
make_text_objective(const language_config& config,
                    std::shared_ptr<const language_base> base,
                    std::shared_ptr<const token_rows> rows);

} // namespace troupe::models
