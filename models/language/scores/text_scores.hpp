#pragma once

#include <span>

#include "models/language/scores/said_and_meant.hpp"

namespace troupe::models {

/// What texts are worth by each scorer, as its publication prints it.
struct text_scores {
  double bleu = 0;    ///< To 100.
  double nist = 0;    ///< Without a bound.
  double meteor = 0;  ///< To 1.
  double rouge_l = 0; ///< To 1.
  double cider = 0;   ///< To 10.
  double ter = 0;     ///< Percent; less is better.
  double exact = 0;   ///< Percent.
  double f1 = 0;      ///< Percent.
};

/// @pre each has a meaning at least
text_scores score_texts(std::span<const said_and_meant> xs);

} // namespace troupe::models
