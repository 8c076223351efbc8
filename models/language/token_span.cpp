#include "models/language/token_span.hpp"

#include <algorithm>

#include "core/assert.hpp"

namespace troupe::models {

double f1_of(const token_span& said, const token_span& is) noexcept {
  if (is.is_beyond())
    return 0;
  if (said.is_none() || is.is_none())
    return said == is ? 1 : 0;
  const auto begin = std::max(said.first, is.first);
  const auto end = std::min(said.last, is.last) + 1;
  if (end <= begin)
    return 0;
  return 2 * static_cast<double>(end - begin)
         / static_cast<double>(said.size() + is.size());
}

token_span best_span(std::span<const float> ends, std::size_t most) noexcept {
  const auto tokens = ends.size() / 2;
  TROUPE_ASSERT(tokens > 0 && most > 0);
  token_span best;
  auto found = ends[0] + ends[1];
  for (std::size_t i = 0; i < tokens; ++i)
    for (auto j = i; j < std::min(tokens, i + most); ++j)
      if (const auto both = ends[2 * i] + ends[2 * j + 1]; both > found) {
        found = both;
        best = {i, j};
      }
  return best;
}

} // namespace troupe::models
