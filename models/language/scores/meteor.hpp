#pragma once

#include <span>

#include "models/language/scores/said_and_meant.hpp"

namespace troupe::models {

/// METEOR from 0 to 1: the mean over texts of the best by any of its meanings,
/// as `nltk` computes it with an empty table of synonyms, of words as
/// mteval-v13a cuts them. Words match that are equal in lower case, then those
/// whose stems are; matches in few pieces count more.
double mean_meteor(std::span<const said_and_meant> xs);

} // namespace troupe::models
