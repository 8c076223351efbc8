#include "models/language/scores/rouge.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "models/language/scores/words.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

word_list words_of_rouge(std::string_view text) {
  auto line = lowercased(text);
  for (auto& x : line)
    if (!((x >= 'a' && x <= 'z') || (x >= '0' && x <= '9')))
      x = ' ';
  return words_between_spaces(line);
}

std::size_t longest_common(const word_list& xs, const word_list& ys) {
  std::vector<std::size_t> before(ys.size() + 1), now(ys.size() + 1);
  for (const auto& x : xs) {
    for (std::size_t j = 1; j <= ys.size(); ++j)
      now[j] =
        x == ys[j - 1] ? before[j - 1] + 1 : std::max(before[j], now[j - 1]);
    before.swap(now);
  }
  return before.back();
}

double f_of(const word_list& said, const word_list& meant) {
  const auto common = static_cast<double>(longest_common(said, meant));
  if (common == 0)
    return 0;
  const auto precision = common / static_cast<double>(said.size());
  const auto recall = common / static_cast<double>(meant.size());
  return 2 * precision * recall / (precision + recall);
}

} // namespace

double mean_rouge_l(std::span<const said_and_meant> xs) {
  double sum = 0;
  for (const auto& x : xs) {
    const auto said = words_of_rouge(x.said);
    double best = 0;
    for (const auto& text : x.meant)
      best = std::max(best, f_of(said, words_of_rouge(text)));
    sum += best;
  }
  return xs.empty() ? 0 : sum / static_cast<double>(xs.size());
}

} // namespace troupe::models
