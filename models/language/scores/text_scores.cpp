#include "models/language/scores/text_scores.hpp"

#include <algorithm>

#include "core/assert.hpp"
#include "models/language/scores/bleu.hpp"
#include "models/language/scores/cider.hpp"
#include "models/language/scores/meteor.hpp"
#include "models/language/scores/nist.hpp"
#include "models/language/scores/rouge.hpp"
#include "models/language/scores/spans.hpp"
#include "models/language/scores/ter.hpp"

namespace troupe::models {

text_scores score_texts(std::span<const said_and_meant> xs) {
  TROUPE_ASSERT(std::ranges::none_of(
    xs, [](const said_and_meant& x) { return x.meant.empty(); }));
  return {.bleu = corpus_bleu(xs),
          .nist = corpus_nist(xs),
          .meteor = mean_meteor(xs),
          .rouge_l = mean_rouge_l(xs),
          .cider = corpus_cider(xs),
          .ter = corpus_ter(xs),
          .exact = exact_matches(xs),
          .f1 = mean_f1(xs)};
}

} // namespace troupe::models
