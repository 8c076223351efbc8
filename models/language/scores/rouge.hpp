#pragma once

#include <span>

#include "models/language/scores/said_and_meant.hpp"

namespace troupe::models {

/// ROUGE-L from 0 to 1: the mean over texts of the best F of the longest common
/// subsequence, as `rouge-score` has it without stems. Words are runs of a to z
/// and digits; other letters stand between words.
double mean_rouge_l(std::span<const said_and_meant> xs);

} // namespace troupe::models
