#pragma once

// What is to be known of letters. The library behind it is in the .cpp alone.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::models {

/// Formats (Cf) are controls; other is what is private or not assigned.
enum class letter_class : std::uint8_t {
  letter,
  mark,
  number,
  punctuation,
  symbol,
  space,
  control,
  other
};

struct utf8_letter {
  char32_t value = 0;
  std::size_t bytes = 0;
  bool valid = false; ///< Not valid: one byte.
};

utf8_letter letter_at(std::string_view text,
                      std::size_t at) noexcept; ///< @pre at < text.size()

void append_utf8(char32_t x, std::string& to);

letter_class class_of(char32_t x) noexcept;

bool is_nonspacing_mark(char32_t x) noexcept; ///< Mn

bool is_assigned(char32_t x) noexcept; ///< Not Cn, as U+FFFE is.

enum class normal_form : std::uint8_t { nfc, nfd, nfkc, nfkd };

std::string
normalised(std::string_view text,
           normal_form how); ///< Bytes that are no UTF-8 stay as they are.

/// Letter by letter, as Rust's to_lowercase but for the final sigma: U+0130
/// becomes two letters.
std::string lowercased(std::string_view text);

} // namespace troupe::models
