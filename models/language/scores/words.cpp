#include "models/language/scores/words.hpp"

#include <algorithm>
#include <utility>

#include "core/assert.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

/// Python's, which counts four separators of files among them.
bool is_space(char32_t x) noexcept {
  return (x >= 0x9 && x <= 0xd) || (x >= 0x1c && x <= 0x20) || x == 0x85
         || x == 0xa0 || x == 0x1680 || (x >= 0x2000 && x <= 0x200a)
         || x == 0x2028 || x == 0x2029 || x == 0x202f || x == 0x205f
         || x == 0x3000;
}

bool is_digit(char x) noexcept {
  return x >= '0' && x <= '9';
}

bool is_stop(char x) noexcept {
  return x == '.' || x == ',';
}

/// Of ASCII, but for apostrophe, comma, dash and stop.
bool is_symbol(char x) noexcept {
  return (x >= ' ' && x <= '&') || (x >= '(' && x <= '+') || x == '/'
         || (x >= ':' && x <= '@') || (x >= '[' && x <= '`')
         || (x >= '{' && x <= '~');
}

std::string with_replaced(std::string text, std::string_view what,
                          std::string_view by) {
  for (auto at = text.find(what); at != text.npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// Without spaces at its end.
std::string_view without_end(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto letter = letter_at(text, at);
    at += letter.bytes;
    if (!letter.valid || !is_space(letter.value))
      end = at;
  }
  return text.substr(0, end);
}

std::string as_one_line(std::string_view text) {
  auto line = with_replaced(std::string{without_end(text)}, "<skipped>", "");
  line = with_replaced(std::move(line), "-\n", "");
  std::ranges::replace(line, '\n', ' ');
  line = with_replaced(std::move(line), "&quot;", "\"");
  line = with_replaced(std::move(line), "&amp;", "&");
  line = with_replaced(std::move(line), "&lt;", "<");
  line = with_replaced(std::move(line), "&gt;", ">");
  return " " + line + " ";
}

std::string with_symbols_apart(std::string_view text) {
  std::string to;
  for (const char x : text) {
    if (is_symbol(x))
      to.append({' ', x, ' '});
    else
      to += x;
  }
  return to;
}

/// Goes over the text from its beginning; what `as` makes of two letters
/// beside each other is not looked at again. Empty: they stay.
template <class Function>
std::string in_pairs(std::string_view text, Function as) {
  std::string to;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto made =
      at + 1 < text.size() ? as(text[at], text[at + 1]) : std::string{};
    if (made.empty()) {
      to += text[at++];
    } else {
      to += made;
      at += 2;
    }
  }
  return to;
}

} // namespace

word_list words_between_spaces(std::string_view text) {
  word_list words;
  std::size_t begin = 0;
  const auto end_at = [&](std::size_t at) {
    if (at > begin)
      words.emplace_back(text.substr(begin, at - begin));
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto letter = letter_at(text, at);
    if (letter.valid && is_space(letter.value)) {
      end_at(at);
      begin = at + letter.bytes;
    }
    at += letter.bytes;
  }
  end_at(text.size());
  return words;
}

// Letters beyond ASCII are several bytes, none of which is a digit or a stop:
// so bytes may be taken for letters here.
word_list words_of_13a(std::string_view text) {
  auto line = with_symbols_apart(as_one_line(text));
  line = in_pairs(line, [](char x, char y) {
    return !is_digit(x) && is_stop(y) ? std::string{x, ' ', y, ' '}
                                      : std::string{};
  });
  line = in_pairs(line, [](char x, char y) {
    return is_stop(x) && !is_digit(y) ? std::string{' ', x, ' ', y}
                                      : std::string{};
  });
  line = in_pairs(line, [](char x, char y) {
    return is_digit(x) && y == '-' ? std::string{x, ' ', y, ' '}
                                   : std::string{};
  });
  return words_between_spaces(line);
}

run_counts runs_of(const word_list& words, std::size_t length) {
  TROUPE_ASSERT(length > 0);
  run_counts counts;
  for (std::size_t first = 0; first + length <= words.size(); ++first) {
    auto run = words[first];
    for (std::size_t i = 1; i < length; ++i)
      (run += ' ') += words[first + i];
    ++counts[std::move(run)];
  }
  return counts;
}

} // namespace troupe::models
