#include "models/language/scores/spans.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "models/language/scores/words.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

bool is_ascii_punctuation(char x) noexcept {
  return (x >= '!' && x <= '/') || (x >= ':' && x <= '@')
         || (x >= '[' && x <= '`') || (x >= '{' && x <= '~');
}

bool is_article(std::string_view x) noexcept {
  return x == "a" || x == "an" || x == "the";
}

/// A space in the place of each article.
std::string without_articles(std::string_view text) {
  std::string to;
  std::size_t begin = 0;
  const auto end_at = [&](std::size_t at) {
    const auto run = text.substr(begin, at - begin);
    to += is_article(run) ? std::string_view{" "} : run;
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto x = letter_at(text, at);
    const auto kind = x.valid ? class_of(x.value) : letter_class::other;
    if (kind != letter_class::letter && kind != letter_class::number) {
      end_at(at);
      to += text.substr(at, x.bytes);
      begin = at + x.bytes;
    }
    at += x.bytes;
  }
  end_at(text.size());
  return to;
}

word_list words_of_answer(std::string_view text) {
  auto line = lowercased(text);
  std::erase_if(line, is_ascii_punctuation);
  return words_between_spaces(without_articles(line));
}

template <class Function>
double best_answer(const said_and_meant& x, Function f) {
  double best = 0;
  for (const auto& text : x.meant)
    best = std::max(best, f(x.said, text));
  return best;
}

/// In percent.
template <class Function>
double mean_percent(std::span<const said_and_meant> xs, Function f) {
  double sum = 0;
  for (const auto& x : xs)
    sum += f(x);
  return xs.empty() ? 0 : 100 * sum / static_cast<double>(xs.size());
}

} // namespace

bool are_equal_answers(std::string_view said, std::string_view meant) {
  return words_of_answer(said) == words_of_answer(meant);
}

double f1_of_answers(std::string_view said, std::string_view meant) {
  const auto xs = words_of_answer(said);
  const auto ys = words_of_answer(meant);
  if (xs.empty() || ys.empty())
    return xs.empty() && ys.empty() ? 1 : 0;
  const auto known = runs_of(ys, 1);
  std::size_t common = 0;
  for (const auto& [word, count] : runs_of(xs, 1))
    if (const auto found = known.find(word); found != known.end())
      common += std::min(count, found->second);
  if (common == 0)
    return 0;
  const auto precision =
    static_cast<double>(common) / static_cast<double>(xs.size());
  const auto recall =
    static_cast<double>(common) / static_cast<double>(ys.size());
  return 2 * precision * recall / (precision + recall);
}

double best_match(const said_and_meant& x) {
  return best_answer(x, [](std::string_view said, std::string_view meant) {
    return are_equal_answers(said, meant) ? 1.0 : 0.0;
  });
}

double best_f1(const said_and_meant& x) {
  return best_answer(x, f1_of_answers);
}

double exact_matches(std::span<const said_and_meant> xs) {
  return mean_percent(xs, best_match);
}

double mean_f1(std::span<const said_and_meant> xs) {
  return mean_percent(xs, best_f1);
}

} // namespace troupe::models
