#include "models/language/scores/nist.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "models/language/scores/words.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t nist_longest = 5;

struct nist_text {
  word_list said;
  std::vector<word_list> meant;
};

using run_worths = std::map<std::string, double, std::less<>>;

std::vector<nist_text> words_in(std::span<const said_and_meant> xs) {
  std::vector<nist_text> all;
  for (const auto& x : xs) {
    auto& to = all.emplace_back();
    to.said = words_of_13a(lowercased(x.said));
    for (const auto& text : x.meant)
      to.meant.push_back(words_of_13a(lowercased(text)));
  }
  return all;
}

/// Of each run that was meant.
run_worths worths_of(const std::vector<nist_text>& xs) {
  run_counts counts;
  std::size_t words = 0;
  for (const auto& x : xs)
    for (const auto& meant : x.meant) {
      words += meant.size();
      for (std::size_t n = 1; n <= nist_longest; ++n)
        for (const auto& [run, count] : runs_of(meant, n))
          counts[run] += count;
    }
  run_worths worths;
  for (const auto& [run, count] : counts) {
    const auto last = run.rfind(' ');
    const auto before =
      last == run.npos ? words : counts.find(run.substr(0, last))->second;
    worths[run] =
      std::log(static_cast<double>(before) / static_cast<double>(count))
      / std::log(2.0);
  }
  return worths;
}

/// Of one length of runs: what was right is worth, how many were said, words
/// of what was meant.
struct nist_part {
  double worth = 0;
  std::size_t said = 0, meant = 0;
};

/// By that of several meanings by which it is worth most.
nist_part part_of(const nist_text& x, std::size_t length,
                  const run_worths& worths) {
  const auto said = runs_of(x.said, length);
  nist_part best;
  for (const auto& [run, count] : said)
    best.said += count;
  bool is_first = true;
  for (const auto& words : x.meant) {
    const auto meant = runs_of(words, length);
    double worth = 0;
    for (const auto& [run, count] : said)
      if (const auto found = meant.find(run); found != meant.end())
        worth += worths.find(run)->second
                 * static_cast<double>(std::min(count, found->second));
    if (is_first
        || std::tuple{worth, words.size()}
             > std::tuple{best.worth, best.meant}) {
      best.worth = worth;
      best.meant = words.size();
    }
    is_first = false;
  }
  return best;
}

/// One half where a text has two thirds of the words.
double brevity_of(std::size_t said, std::size_t meant) {
  if (meant == 0)
    return 0;
  const auto ratio = static_cast<double>(said) / static_cast<double>(meant);
  if (ratio <= 0 || ratio >= 1)
    return std::min(ratio, 1.0);
  const auto steepness = std::log(0.5) / (std::log(1.5) * std::log(1.5));
  return std::exp(steepness * std::log(ratio) * std::log(ratio));
}

} // namespace

double corpus_nist(std::span<const said_and_meant> xs) {
  const auto texts = words_in(xs);
  const auto worths = worths_of(texts);
  std::size_t said = 0, meant = 0;
  double sum = 0;
  for (std::size_t n = 1; n <= nist_longest; ++n) {
    nist_part all;
    for (const auto& x : texts) {
      const auto part = part_of(x, n, worths);
      all.worth += part.worth;
      all.said += part.said;
      // Once for each length: by each another of the meanings may be nearest.
      said += x.said.size();
      meant += part.meant;
    }
    if (all.said > 0)
      sum += all.worth / static_cast<double>(all.said);
  }
  return sum * brevity_of(said, meant);
}

} // namespace troupe::models
