#pragma once

#include <memory>

#include "models/language/base.hpp"
#include "models/language/language_config.hpp"
#include "models/language/token_rows.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// Which class a row is of: an encoder's mean of the tokens that are there, and
/// the last token of a model that sees what is before it alone, through the
/// head. It has outputs, embeddings (`mean_of_tokens`) and labels; its scores
/// count rows. @pre the base has a head of classes, and the rows fit it
std::unique_ptr<objective>
make_classifier(const language_config& config,
                std::shared_ptr<const language_base> base,
                std::shared_ptr<const token_rows> rows);

} // namespace troupe::models
