#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "models/language/token_ids.hpp"
#include "models/language/tokenizer.hpp"

namespace troupe::models {

struct language_options;

/// Streams of tokens, of which no two have a document in common.
struct user_streams {
  std::string name;
  token_ids train;
  token_ids validation;
  token_ids test;
  std::uint64_t documents = 0;
  std::uint64_t tokens = 0;  ///< Of its text, whatever the parts are cut to.
  std::uint64_t sources = 0; ///< Each goes whole into one part.
  /// Above 0: pieces of so many tokens, each of another user's text; 0: one.
  std::size_t validation_piece = 0;
  std::size_t test_piece = 0; ///< Likewise, also of `users_test`.
  std::uint64_t dropped = 0;  ///< Paragraphs that were repeats.
  /// Of who has the texts of all: the test stream of each; `test` is empty.
  std::vector<token_ids> users_test = {};

  std::span<const token_ids> tests() const noexcept {
    return users_test.empty() ? std::span{&test, 1} : std::span{users_test};
  }
};

struct text_streams {
  std::vector<user_streams> users;
  std::uint64_t dropped_paragraphs = 0;
};

/// Reads texts, without what is repeated in them, and makes tokens of them.
/// Returns `invalid_data` also where a stream that is wanted has no window.
[[nodiscard]] result<text_streams> read_streams(const language_options& how,
                                                const tokenizer& by);

/// How many windows a stream has: each token of one foretells the next.
inline std::size_t windows_of(const token_ids& x, std::size_t context) {
  return x.size() > 0 ? (x.size() - 1) / context : 0;
}

/// The pieces of a stream, of so many tokens each; 0: it is one.
std::vector<token_ids> pieces_of(const token_ids& x, std::size_t piece);

} // namespace troupe::models
