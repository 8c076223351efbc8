#pragma once

// People's patterns are Oniguruma's, and the library here is PCRE2. Most of
// what a pattern says both read alike. What they read differently is said in
// other words here, or refused: nothing is found that its author did not mean
// (docs/decisions/0039-language-stands-on-two-libraries.md).
//
//   told_pattern.cpp   letters, groups and repeats
//   told_set.cpp       sets, and what a backslash begins

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace troupe::models {

/// A pattern as the library here is told it, and where its bytes stood.
struct told_pattern {
  std::string text;
  std::vector<std::size_t> places;

  void add(std::string_view x, std::size_t place) {
    text += x;
    places.resize(text.size(), place);
  }
};

/// `invalid_data`: "has '\K' at 7, which is not read here as in Oniguruma,
/// whose patterns these are; … would do".
[[nodiscard]] result<told_pattern> told(std::string_view pattern);

/// Where a reader is.
struct pattern_place {
  std::string_view text;
  std::size_t at = 0;
  bool any_case = false; ///< Within (?i).

  bool ends() const noexcept {
    return at >= text.size();
  }

  bool stands(std::string_view x) const noexcept {
    return text.substr(at).starts_with(x);
  }
};

/// What a backslash begins: one letter, or a class of letters.
struct told_escape {
  std::optional<char32_t> letter = {};
  std::string members = {}; ///< In a set.
  bool negated = false;     ///< All others are meant.
  bool cased = false;       ///< Some have another case.
};

/// @pre a backslash is there, and what it begins stands for a letter
[[nodiscard]] result<told_escape> read_escape(pattern_place& at);

/// [One set, with sets in it: as one letter of a pattern.] @pre it is there
[[nodiscard]] result<std::string> read_set(pattern_place& at);

/// A class by itself.
std::string told_class(const told_escape& x);

/// What both read as this letter, also in sets.
std::string told_letter(char32_t x);

/// Whether all of (?i) is known of such letters: those of ASCII, and of scripts
/// without case.
bool has_known_case(char32_t from, char32_t to) noexcept;

/// Members of a set: what \w has in one.
inline constexpr std::string_view word_members =
  R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

/// What stands between two places, and what would do in its stead.
tl::unexpected<error> reads_otherwise(std::string_view pattern,
                                      std::size_t begin, std::size_t end,
                                      std::string_view otherwise);

} // namespace troupe::models
