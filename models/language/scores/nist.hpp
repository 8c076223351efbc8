#pragma once

#include <span>

#include "models/language/scores/said_and_meant.hpp"

namespace troupe::models {

/// NIST of runs of one to five words, from 0 up: as `nltk` computes it, of
/// words as mteval-v13a cuts them, in lower case. A run is worth what it tells
/// beyond the run without its last word, over all that was meant.
double corpus_nist(std::span<const said_and_meant> xs);

} // namespace troupe::models
