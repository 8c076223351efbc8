#pragma once

// What tokens of a row say in the words of its text. A tokenizer may lower,
// drop and set apart what it reads, so whole words are those that the text has,
// and not what decoding makes of their ids:
//
//   text     from 1990-1995 on
//   ids      from 1990 - 1995 on
//   decoded       1990 - 1995        says another year than "1990-1995" does

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "models/language/token_span.hpp"
#include "models/language/tokenizer.hpp"

namespace troupe::models {

/// Behind the question of a row, or of each window where it has several.
struct asked_text {
  std::string text;
  std::size_t first = 0; ///< Where its tokens begin in a row.
  /// The answers that would do; "": there is none. One at least.
  std::vector<std::string> meant;
};

/// A row as `row_maker` has made it.
struct text_window {
  std::span<const token_id> ids;
  std::size_t skipped = 0; ///< Tokens of the text before it.
};

/// Nothing, if the span is none or begins behind the row. What is no word of
/// the text, and a part of one, is as it is decoded. @param row made by this
/// tokenizer
std::string said_by(const token_span& x, const text_window& row,
                    const asked_text& from, const tokenizer& by);

} // namespace troupe::models
