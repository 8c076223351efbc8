#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// As errors speak of names.
inline std::string in_quotes(std::string_view x) {
  return "'" + std::string{x} + "'";
}

/// The last line that is not empty: of a script's exception, what is wrong.
inline std::string_view last_line(std::string_view x) {
  const auto end = x.find_last_not_of("\r\n ");
  x = x.substr(0, end == x.npos ? 0 : end + 1);
  const auto before = x.find_last_of('\n');
  return before == x.npos ? x : x.substr(before + 1);
}

} // namespace troupe
