#pragma once

#include <span>

#include "models/language/scores/said_and_meant.hpp"

namespace troupe::models {

/// BLEU of runs of one to four words, from 0 to 100: as `sacrebleu` has it
/// unless it is told otherwise (13a, case counts, exponential smoothing).
double corpus_bleu(std::span<const said_and_meant> xs);

} // namespace troupe::models
