#pragma once

#include <span>
#include <string_view>

#include "models/language/scores/said_and_meant.hpp"

namespace troupe::models {

// Answers, as SQuAD's script judges them: in lower case, without ASCII's
// punctuation and without "a", "an" and "the".

bool are_equal_answers(std::string_view said, std::string_view meant);

/// F of their words from 0 to 1, however they stand. Of empty ones: whether
/// both are.
double f1_of_answers(std::string_view said, std::string_view meant);

/// From 0 to 1, by the best of what was meant.
double best_match(const said_and_meant& x);
double best_f1(const said_and_meant& x);

/// In percent, each answer by the best of what was meant.
double exact_matches(std::span<const said_and_meant> xs);
double mean_f1(std::span<const said_and_meant> xs);

} // namespace troupe::models
