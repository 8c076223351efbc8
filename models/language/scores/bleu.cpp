#include "models/language/scores/bleu.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "models/language/scores/words.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t bleu_longest = 4;

/// What adds up over texts.
struct bleu_counts {
  std::array<std::size_t, bleu_longest> right = {}, all = {};
  std::size_t said = 0, meant = 0; ///< Words.
};

std::size_t apart(std::size_t x, std::size_t y) noexcept {
  return x > y ? x - y : y - x;
}

void add_counts(const said_and_meant& x, bleu_counts& to) {
  const auto said = words_of_13a(x.said);
  std::array<run_counts, bleu_longest> known;
  std::size_t nearest = 0;
  bool is_first = true;
  for (const auto& text : x.meant) {
    const auto words = words_of_13a(text);
    const auto by = apart(words.size(), said.size());
    const auto best = apart(nearest, said.size());
    // Of two as near the shorter.
    if (is_first || by < best || (by == best && words.size() < nearest))
      nearest = words.size();
    is_first = false;
    for (std::size_t n = 0; n < bleu_longest; ++n)
      for (const auto& [run, count] : runs_of(words, n + 1)) {
        auto& most = known[n][run];
        most = std::max(most, count);
      }
  }
  to.said += said.size();
  to.meant += nearest;
  for (std::size_t n = 0; n < bleu_longest; ++n)
    for (const auto& [run, count] : runs_of(said, n + 1)) {
      to.all[n] += count;
      if (const auto found = known[n].find(run); found != known[n].end())
        to.right[n] += std::min(count, found->second);
    }
}

/// What is shorter than what was meant is worth less.
double brevity_of(const bleu_counts& x) {
  if (x.said >= x.meant)
    return 1;
  if (x.said == 0)
    return 0;
  return std::exp(1
                  - static_cast<double>(x.meant) / static_cast<double>(x.said));
}

} // namespace

double corpus_bleu(std::span<const said_and_meant> xs) {
  bleu_counts sum;
  for (const auto& x : xs)
    add_counts(x, sum);
  // Runs that are longer than all that was said make it nothing.
  if (std::ranges::all_of(sum.right, [](std::size_t n) { return n == 0; })
      || sum.all.back() == 0)
    return 0;
  double smooth = 1, logarithms = 0;
  for (std::size_t n = 0; n < bleu_longest; ++n) {
    const auto all = static_cast<double>(sum.all[n]);
    if (sum.right[n] == 0)
      smooth *= 2;
    const auto right =
      sum.right[n] > 0 ? static_cast<double>(sum.right[n]) : 1 / smooth;
    logarithms += std::log(100 * right / all);
  }
  return brevity_of(sum) * std::exp(logarithms / bleu_longest);
}

} // namespace troupe::models
