#pragma once

#include <span>

#include "models/language/scores/said_and_meant.hpp"

namespace troupe::models {

/// CIDEr-D of runs of one to four words, from 0 to 10: as `pycocoevalcap`
/// computes it of words, which are cut as mteval-v13a cuts them, in lower case
/// (its own cutting is a program in Java). Rare runs count more: of a single
/// text all are in all, and it is 0.
double corpus_cider(std::span<const said_and_meant> xs);

} // namespace troupe::models
