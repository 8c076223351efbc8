#include "models/language/word_tokens.hpp"

#include <algorithm>

namespace troupe::models {

namespace {

bool is_blank(char x) noexcept {
  return x == ' ' || x == '\t' || x == '\n' || x == '\r';
}

/// Where the piece ends that begins here: a word with one space before it, or
/// blanks that no word takes along.
std::size_t end_of_piece(std::string_view text, std::size_t begin) noexcept {
  auto at = begin;
  while (at < text.size() && is_blank(text[at]))
    ++at;
  if (at < text.size() && at > begin) {
    const auto word = text[at - 1] == ' ' ? at - 1 : at;
    if (word > begin)
      return word;
  }
  while (at < text.size() && !is_blank(text[at]))
    ++at;
  return at;
}

} // namespace

result<word_tokens> word_tokens::of(std::string_view text,
                                    const tokenizer& by) {
  word_tokens out;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = end_of_piece(text, begin);
    const auto first = out.ids_.size();
    if (auto ok = by.encode(text.substr(begin, end - begin),
                            special_rule::as_text, out.ids_);
        !ok)
      return tl::make_unexpected(ok.error());
    out.words_.push_back(
      {.begin = begin, .end = end, .first = first, .last = out.ids_.size()});
    begin = end;
  }
  return out;
}

std::optional<std::pair<std::size_t, std::size_t>>
word_tokens::of_bytes(std::size_t begin, std::size_t end) const {
  std::size_t first = ids_.size(), last = 0;
  for (const auto& x : words_)
    if (x.begin < end && begin < x.end && x.first < x.last) {
      first = std::min(first, x.first);
      last = std::max(last, x.last);
    }
  if (first >= last)
    return std::nullopt;
  return std::pair{first, last - 1};
}

const word_tokens::word*
word_tokens::with_token(std::size_t place) const noexcept {
  const auto found = std::ranges::upper_bound(words_, place, {}, &word::last);
  return found == words_.end() ? nullptr : &*found;
}

} // namespace troupe::models
