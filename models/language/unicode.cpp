#include "models/language/unicode.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <utf8proc.h>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

using code_points = std::vector<utf8proc_int32_t>;

constexpr char32_t dotted_capital_i = 0x130;
constexpr char32_t dot_above = 0x307;

constexpr std::size_t in_decomposition_max = 32; ///< The longest known has 18.

std::uint32_t byte_at(std::string_view text, std::size_t at) noexcept {
  return static_cast<unsigned char>(text[at]);
}

/// What the first byte of a letter says; 0 where it is none.
std::size_t bytes_said_by(std::uint32_t first) noexcept {
  if (first < 0x80)
    return 1;
  if (first < 0xc2 || first > 0xf4)
    return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

bool is_ascii(std::string_view text) noexcept {
  return std::ranges::all_of(
    text, [](char x) { return static_cast<unsigned char>(x) < 0x80; });
}

int combining_class(utf8proc_int32_t x) noexcept {
  return utf8proc_get_property(x)->combining_class;
}

bool composes(normal_form x) noexcept {
  return x == normal_form::nfc || x == normal_form::nfkc;
}

utf8proc_option_t options_of(normal_form x) noexcept {
  int all = UTF8PROC_STABLE;
  all |= composes(x) ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (x == normal_form::nfkc || x == normal_form::nfkd)
    all |= UTF8PROC_COMPAT;
  return static_cast<utf8proc_option_t>(all);
}

void append_decomposed(char32_t x, utf8proc_option_t how, code_points& to) {
  std::array<utf8proc_int32_t, in_decomposition_max> parts{};
  int boundary = 0;
  const auto n = utf8proc_decompose_char(
    static_cast<utf8proc_int32_t>(x), parts.data(),
    static_cast<utf8proc_ssize_t>(parts.size()), how, &boundary);
  TROUPE_ASSERT(n >= 0 && n <= static_cast<utf8proc_ssize_t>(parts.size()));
  to.insert(to.end(), parts.begin(), parts.begin() + n);
}

// The library's own way to order marks takes the square of their number, and
// somebody's text may be marks alone.
void order_marks(code_points& xs) {
  for (auto at = xs.begin(); at != xs.end();) {
    const auto is_mark = [](utf8proc_int32_t x) {
      return combining_class(x) != 0;
    };
    const auto first = std::find_if(at, xs.end(), is_mark);
    at = std::find_if_not(first, xs.end(), is_mark);
    if (at - first > 1)
      std::stable_sort(first, at, [](utf8proc_int32_t x, utf8proc_int32_t y) {
        return combining_class(x) < combining_class(y);
      });
  }
}

void append_normalised(code_points& run, normal_form how, std::string& to) {
  order_marks(run);
  if (composes(how)) {
    const auto n = utf8proc_normalize_utf32(
      run.data(), static_cast<utf8proc_ssize_t>(run.size()), options_of(how));
    TROUPE_ASSERT(n >= 0 && static_cast<std::size_t>(n) <= run.size());
    run.resize(static_cast<std::size_t>(n));
  }
  for (const auto x : run)
    append_utf8(static_cast<char32_t>(x), to);
  run.clear();
}

} // namespace

utf8_letter letter_at(std::string_view text, std::size_t at) noexcept {
  const utf8_letter broken{.value = 0, .bytes = 1, .valid = false};
  const auto first = byte_at(text, at);
  const auto size = bytes_said_by(first);
  if (size == 0 || text.size() - at < size)
    return broken;
  auto value = size == 1 ? first : first & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = byte_at(text, at + i);
    if ((next & 0xc0U) != 0x80)
      return broken;
    value = value << 6 | (next & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (value < least[size] || value > 0x10ffff || surrogate)
    return broken;
  return {.value = value, .bytes = size, .valid = true};
}

void append_utf8(char32_t x, std::string& to) {
  const auto put = [&to](char32_t byte) {
    to.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
  };
  if (x < 0x80) {
    put(x);
  } else if (x < 0x800) {
    put(0xc0 | x >> 6);
    put(0x80 | (x & 0x3f));
  } else if (x < 0x10000) {
    put(0xe0 | x >> 12);
    put(0x80 | (x >> 6 & 0x3f));
    put(0x80 | (x & 0x3f));
  } else {
    put(0xf0 | x >> 18);
    put(0x80 | (x >> 12 & 0x3f));
    put(0x80 | (x >> 6 & 0x3f));
    put(0x80 | (x & 0x3f));
  }
}

letter_class class_of(char32_t x) noexcept {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(x))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return letter_class::letter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return letter_class::mark;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return letter_class::number;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return letter_class::punctuation;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return letter_class::symbol;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return letter_class::space;
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
      return letter_class::control;
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
      return letter_class::other;
  }
  return letter_class::other;
}

bool is_nonspacing_mark(char32_t x) noexcept {
  return utf8proc_category(static_cast<utf8proc_int32_t>(x))
         == UTF8PROC_CATEGORY_MN;
}

bool is_assigned(char32_t x) noexcept {
  return utf8proc_category(static_cast<utf8proc_int32_t>(x))
         != UTF8PROC_CATEGORY_CN;
}

std::string normalised(std::string_view text, normal_form how) {
  if (is_ascii(text))
    return std::string{text};
  std::string made;
  made.reserve(text.size());
  code_points run;
  for (std::size_t at = 0; at < text.size();) {
    const auto x = letter_at(text, at);
    if (x.valid) {
      append_decomposed(x.value, options_of(how), run);
    } else {
      append_normalised(run, how, made);
      made.push_back(text[at]);
    }
    at += x.bytes;
  }
  append_normalised(run, how, made);
  return made;
}

std::string lowercased(std::string_view text) {
  std::string made;
  made.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto x = letter_at(text, at);
    if (!x.valid) {
      made.push_back(text[at]);
    } else if (x.value == dotted_capital_i) {
      made.push_back('i');
      append_utf8(dot_above, made);
    } else {
      append_utf8(static_cast<char32_t>(
                    utf8proc_tolower(static_cast<utf8proc_int32_t>(x.value))),
                  made);
    }
    at += x.bytes;
  }
  return made;
}

} // namespace troupe::models
