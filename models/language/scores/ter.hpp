#pragma once

#include <span>

#include "models/language/scores/said_and_meant.hpp"

namespace troupe::models {

/// Translation edit rate in percent, less is better: as `sacrebleu` has it
/// unless it is told otherwise (words between spaces, lower case). An edit is a
/// word put in, left out or replaced, or a run of words that moves; of several
/// meanings the nearest counts its edits, and all of them their mean length.
double corpus_ter(std::span<const said_and_meant> xs);

} // namespace troupe::models
