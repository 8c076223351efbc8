#pragma once

// The best of several texts, token by token. A step asks what may come next of
// all texts that are followed, keeps the best and sets aside who has ended:
//
//   a b  ─► a b c, a b d  ─► a b d a, a b c <end>  ─► …
//
// It knows no model: who asks says the chances.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/result.hpp"
#include "models/continuations.hpp"

namespace troupe::models {

/// Logarithms of the chance of each token to be the next, text after text. All
/// texts have one length.
using next_chances = std::function<result<std::vector<float>>(
  const std::vector<std::vector<std::uint32_t>>& texts)>;

/// It ends when no text that goes on would, if it ended now, be better than
/// those that have ended; with a beam of one, when that has. Of equals the
/// earlier text, then the lesser token. Returns `invalid_data` where no chance
/// is a number. @pre how.beam > 0, !prompt.empty(), vocabulary > 0
[[nodiscard]] result<continuation>
search_beam(std::span<const std::uint32_t> prompt, const continuation_rule& how,
            std::uint32_t vocabulary, const next_chances& ask);

} // namespace troupe::models
