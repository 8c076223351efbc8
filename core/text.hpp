#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// As errors speak of names.
inline std::string in_quotes(std::string_view x) {
  return "'" + std::string{x} + "'";
}

} // namespace troupe
