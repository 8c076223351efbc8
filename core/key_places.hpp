#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace troupe {

/// Where a configuration says what, for the refusals of those who read none.
struct key_places {
  std::string origin = {}; ///< Its file; empty: nobody knows.
  /// "FILE:3", or what stands for a line, by the whole name of a key.
  std::map<std::string, std::string, std::less<>> said = {};

  /// What the refusal of a key begins with: "FILE:3: ", the file alone where
  /// nobody said the key, or nothing.
  std::string of(std::string_view key) const {
    const auto at = said.find(key);
    const auto& where = at == said.end() ? origin : at->second;
    return where.empty() ? std::string{} : where + ": ";
  }
};

} // namespace troupe
