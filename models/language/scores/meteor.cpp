#include "models/language/scores/meteor.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/language/scores/word_stem.hpp"
#include "models/language/scores/words.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

constexpr double weight_of_recall = 0.9;
constexpr double most_taken_off = 0.5;

/// Of each word that was said the place of the one that it matches.
using alignment = std::vector<std::optional<std::size_t>>;

/// Matches what is left on both sides, from the end on, the last with the last.
template <class Key>
void match(const std::vector<Key>& said, const std::vector<Key>& meant,
           alignment& to) {
  std::vector<bool> is_taken(meant.size());
  for (const auto& x : to)
    if (x)
      is_taken[*x] = true;
  std::map<Key, std::vector<std::size_t>> left;
  for (std::size_t j = 0; j < meant.size(); ++j)
    if (!is_taken[j])
      left[meant[j]].push_back(j);
  for (auto i = said.size(); i-- > 0;) {
    if (to[i])
      continue;
    const auto found = left.find(said[i]);
    if (found == left.end() || found->second.empty())
      continue;
    to[i] = found->second.back();
    found->second.pop_back();
  }
}

std::vector<std::u32string> stems_of(const word_list& words) {
  std::vector<std::u32string> stems;
  for (const auto& x : words)
    stems.push_back(word_stem(x));
  return stems;
}

struct matches {
  std::size_t count = 0;
  std::size_t pieces = 0; ///< Stretches that stand alike in both.
};

matches count_matches(const alignment& xs) {
  matches found;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (!xs[i])
      continue;
    ++found.count;
    const bool goes_on = i > 0 && xs[i - 1] && *xs[i - 1] + 1 == *xs[i];
    found.pieces += !goes_on;
  }
  return found;
}

double meteor_of(const word_list& said, const word_list& meant) {
  alignment xs(said.size());
  match(said, meant, xs);
  match(stems_of(said), stems_of(meant), xs);
  const auto found = count_matches(xs);
  if (found.count == 0)
    return 0;
  const auto count = static_cast<double>(found.count);
  const auto precision = count / static_cast<double>(said.size());
  const auto recall = count / static_cast<double>(meant.size());
  const auto mean =
    precision * recall
    / (weight_of_recall * precision + (1 - weight_of_recall) * recall);
  const auto torn = static_cast<double>(found.pieces) / count;
  return (1 - most_taken_off * torn * torn * torn) * mean;
}

} // namespace

double mean_meteor(std::span<const said_and_meant> xs) {
  double sum = 0;
  for (const auto& x : xs) {
    const auto said = words_of_13a(lowercased(x.said));
    double best = 0;
    for (const auto& text : x.meant)
      best = std::max(best, meteor_of(said, words_of_13a(lowercased(text))));
    sum += best;
  }
  return xs.empty() ? 0 : sum / static_cast<double>(xs.size());
}

} // namespace troupe::models
