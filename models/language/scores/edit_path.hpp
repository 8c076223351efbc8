#pragma once

#include <cstddef>
#include <vector>

#include "models/language/scores/words.hpp"

namespace troupe::models {

/// How one list of words becomes another without moves.
struct edit_path {
  std::size_t edits = 0;
  std::vector<bool> is_wrong_said = {};  ///< Of each word that is there.
  std::vector<bool> is_wrong_meant = {}; ///< Of each that should be.
  /// Of each word that should be: how many of those that are there stand
  /// before it or in its place.
  std::vector<std::size_t> reached = {};
};

/// The cheapest near the diagonal of the table: who is far from it, as in texts
/// of hundreds of words, is not looked at. @pre !meant.empty()
edit_path edit_path_of(const word_list& said, const word_list& meant);

} // namespace troupe::models
