// A pattern, and after a zero a text. What is told of it is a pattern whose
// places are the author's; and letters by their numbers find themselves.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "core/assert.hpp"
#include "core/text.hpp"
#include "models/language/text_pattern.hpp"
#include "models/language/told_pattern.hpp"
#include "models/language/unicode.hpp"

namespace {

using namespace troupe::models;

constexpr std::size_t letters_max = 256; // Each search ends, however long.
constexpr std::size_t told_of_a_byte_max = 128;

/// @return whether it is read
bool check_told(std::string_view pattern) {
  const auto made = told(pattern);
  if (!made) {
    const auto& why = made.error().context;
    TROUPE_ASSERT(made.error().code == troupe::errc::invalid_data);
    TROUPE_ASSERT(why.starts_with("has ") ? why.ends_with(" would do")
                                          : !troupe::is_utf8(pattern));
    return false;
  }
  const auto& [text, places] = *made;
  TROUPE_ASSERT(troupe::is_utf8(text) && text.size() == places.size());
  TROUPE_ASSERT(text.size() <= told_of_a_byte_max * pattern.size());
  TROUPE_ASSERT(std::ranges::is_sorted(places)
                && (places.empty() || places.back() <= pattern.size()));
  return true;
}

void check_found(const text_pattern& by, std::string_view text) {
  text_search search{by, text};
  for (std::size_t from = 0; from <= text.size();) {
    const auto found = search.next(from);
    if (!found || !*found)
      return;
    TROUPE_ASSERT((*found)->begin >= from && (*found)->end <= text.size()
                  && (*found)->begin <= (*found)->end);
    from = std::max((*found)->end, from + 1);
    while (from < text.size() && (text[from] & 0xc0) == 0x80)
      ++from;
  }
}

/// \x{…}, whose classes or signs are none.
void check_letters(std::string_view text) {
  std::string pattern;
  for (std::size_t at = 0; at < text.size();) {
    const auto x = letter_at(text, at);
    char number[16];
    std::snprintf(number, sizeof number, "\\x{%x}",
                  static_cast<unsigned>(x.value));
    pattern += number;
    at += x.bytes;
  }
  const auto by = text_pattern::compile(pattern, "fuzz");
  TROUPE_ASSERT(by);
  const auto found = text_search{*by, text}.next(0);
  TROUPE_ASSERT(found && *found && (*found)->begin == 0
                && (*found)->end == text.size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view all{reinterpret_cast<const char*>(data), size};
  const auto end = all.find('\0');
  const auto pattern = all.substr(0, end);
  const auto text =
    end == all.npos ? std::string_view{} : all.substr(end + 1, letters_max);
  const bool is_read = check_told(pattern);
  const auto by = text_pattern::compile(pattern, "fuzz");
  TROUPE_ASSERT(is_read || !by);
  if (!troupe::is_utf8(text))
    return 0;
  if (by)
    check_found(*by, text);
  check_letters(text);
  return 0;
}
