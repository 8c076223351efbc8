#pragma once

#include <memory>

#include "models/language/base.hpp"
#include "models/language/language_config.hpp"
#include "models/language/token_rows.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// Where in a row a question is answered: of each token the head says how much
/// a span begins, and ends, there. A row's loss is the mean of both; it is
/// right if the best span of at most 30 tokens is the answer, and F1 is of the
/// tokens that both have. Place 0 is no answer. Of a text of several windows
/// the surest answer of all is judged. It has labels.
/// @pre the base has a head of ends, and the rows fit it
std::unique_ptr<objective>
make_span_finder(const language_config& config,
                 std::shared_ptr<const language_base> base,
                 std::shared_ptr<const token_rows> rows);

} // namespace troupe::models
