#include "models/language/scores/cider.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/language/scores/words.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t cider_longest = 4;
constexpr double length_deviation = 6; ///< Of lengths.

using run_tables = std::array<run_counts, cider_longest>;

run_tables runs_in(std::string_view text) {
  const auto words = words_of_13a(lowercased(text));
  run_tables all;
  for (std::size_t n = 0; n < cider_longest; ++n)
    all[n] = runs_of(words, n + 1);
  return all;
}

struct cider_text {
  run_tables said;
  std::vector<run_tables> meant;
};

/// A run counts by how few of the texts mean it.
class rarity {
public:
  explicit rarity(const std::vector<cider_text>& texts)
    : texts_(static_cast<double>(texts.size())) {
    for (const auto& x : texts) {
      std::set<std::string> meant;
      for (const auto& runs : x.meant)
        for (const auto& some : runs)
          for (const auto& [run, count] : some)
            meant.insert(run);
      for (const auto& run : meant)
        ++in_[run];
    }
  }

  double of(const std::string& run) const {
    const auto found = in_.find(run);
    const auto in =
      found == in_.end() ? 1.0 : static_cast<double>(found->second);
    return std::log(texts_) - std::log(in);
  }

private:
  double texts_;
  run_counts in_;
};

double length_of(const run_counts& xs, const rarity& by) {
  double sum = 0;
  for (const auto& [run, count] : xs) {
    const auto value = static_cast<double>(count) * by.of(run);
    sum += value * value;
  }
  return std::sqrt(sum);
}

/// The cosine, where what is said too often does not count.
double likeness(const run_counts& said, const run_counts& meant,
                const rarity& by) {
  double sum = 0;
  for (const auto& [run, count] : said) {
    const auto found = meant.find(run);
    if (found == meant.end())
      continue;
    const auto often = static_cast<double>(std::min(count, found->second));
    const auto rare = by.of(run);
    sum += often * rare * static_cast<double>(found->second) * rare;
  }
  const auto lengths = length_of(said, by) * length_of(meant, by);
  return lengths > 0 ? sum / lengths : sum;
}

double pairs_in(const run_tables& x) {
  double sum = 0;
  for (const auto& [run, count] : x[1])
    sum += static_cast<double>(count);
  return sum;
}

double cider_of(const cider_text& x, const rarity& by) {
  double sum = 0;
  for (const auto& meant : x.meant) {
    const auto delta = pairs_in(x.said) - pairs_in(meant);
    const auto as_long =
      std::exp(-delta * delta / (2 * length_deviation * length_deviation));
    for (std::size_t n = 0; n < cider_longest; ++n)
      sum += as_long * likeness(x.said[n], meant[n], by);
  }
  return 10 * sum / cider_longest / static_cast<double>(x.meant.size());
}

} // namespace

double corpus_cider(std::span<const said_and_meant> xs) {
  std::vector<cider_text> texts;
  for (const auto& x : xs) {
    auto& to = texts.emplace_back();
    to.said = runs_in(x.said);
    for (const auto& text : x.meant)
      to.meant.push_back(runs_in(text));
  }
  const rarity by{texts};
  double sum = 0;
  for (const auto& x : texts)
    sum += cider_of(x, by);
  return xs.empty() ? 0 : sum / static_cast<double>(xs.size());
}

} // namespace troupe::models
