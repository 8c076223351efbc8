#pragma once

#include <string_view>

namespace troupe {

/// What somebody may be called: up to 64 letters, digits and . _ - of ASCII,
/// the first of which is neither a dot nor a dash. Nothing in it does anything
/// to a terminal, a path or a pattern.
bool is_name(std::string_view x) noexcept;

/// For people.
inline constexpr const char* name_rule =
  "a name has up to 64 letters, digits, dots, dashes and _, and begins with "
  "none of . -";

} // namespace troupe
