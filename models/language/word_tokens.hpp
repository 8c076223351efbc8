#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "models/language/tokenizer.hpp"

namespace troupe::models {

/// A text's ids, made word by word, so that it is known which token has which
/// bytes, whatever the tokenizer: a word takes the blank before it along. All
/// words are treated so: where an answer ends does not show in the ids.
class word_tokens {
public:
  struct word {
    std::size_t begin = 0, end = 0;  ///< In bytes.
    std::size_t first = 0, last = 0; ///< Its ids; the last is the next one's.
  };

  [[nodiscard]] static result<word_tokens> of(std::string_view text,
                                              const tokenizer& by);

  const std::vector<token_id>& ids() const noexcept {
    return ids_;
  }

  /// The first and the last token of the words that have these bytes; nothing:
  /// no token has any. @pre begin < end, within the text
  std::optional<std::pair<std::size_t, std::size_t>>
  of_bytes(std::size_t begin, std::size_t end) const;

  /// Null: there are not so many tokens.
  const word* with_token(std::size_t place) const noexcept;

private:
  std::vector<token_id> ids_;
  std::vector<word> words_;
};

} // namespace troupe::models
