#pragma once

// Words as scorers count them. Each publication cuts texts in a way of its own,
// and a number means nothing beside one that was cut otherwise.

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::models {

using word_list = std::vector<std::string>;

/// What stands between Unicode's spaces. No word has one inside.
word_list words_between_spaces(std::string_view text);

/// As mteval-v13a cuts, and `sacrebleu` unless it is told otherwise: symbols
/// stand by themselves, stops and commas unless between digits, dashes after a
/// digit.
word_list words_of_13a(std::string_view text);

/// How often each run of so many words stands there; a run's words with a
/// space between.
using run_counts = std::map<std::string, std::size_t, std::less<>>;

/// @pre length > 0
run_counts runs_of(const word_list& words, std::size_t length);

} // namespace troupe::models
