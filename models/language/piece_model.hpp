#pragma once

// The middle of a tokenizer: a piece of text in, ids out. Each file format has
// its own way to the piece, and shares these.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "models/language/tokenizer.hpp"

namespace troupe::models {

/// How one piece of a text becomes ids.
class piece_model {
public:
  virtual ~piece_model() = default;

  virtual std::string_view kind() const noexcept = 0;

  virtual std::size_t size() const noexcept = 0;

  [[nodiscard]] virtual result<void>
  encode(std::string_view piece, std::vector<token_id>& to) const = 0;

  /// @pre x < size()
  virtual std::string_view text_of(token_id x) const noexcept = 0;

  virtual std::optional<token_id>
  find(std::string_view token) const noexcept = 0;

  virtual std::optional<token_id> unknown() const noexcept {
    return {};
  }
};

using vocabulary_list = std::vector<std::pair<std::string, token_id>>;
using merge_list = std::vector<std::pair<std::string, std::string>>;

struct bpe_rules {
  bool byte_fallback =
    false; ///< A letter that nobody knows: "<0xE2>" and so on.
  bool fuse_unknown = false;  ///< Several of these in a row are one.
  bool ignore_merges = false; ///< A piece that is a token is that token.
  std::optional<std::string> unknown = {}; ///< Nothing: such letters go.
};

/// `invalid_data`: merges that name nothing, no merges, an id twice, ids with
/// holes.
[[nodiscard]] result<std::unique_ptr<piece_model>>
make_bpe(vocabulary_list vocabulary, merge_list merges, bpe_rules how,
         std::string_view origin);

struct wordpiece_rules {
  std::string unknown = "[UNK]";
  std::string continuing = "##";
  std::size_t letters_max = 100;
};

[[nodiscard]] result<std::unique_ptr<piece_model>>
make_wordpiece(vocabulary_list vocabulary, wordpiece_rules how,
               std::string_view origin);

/// Scores are natural logarithms; ids are places in the list.
[[nodiscard]] result<std::unique_ptr<piece_model>>
make_unigram(std::vector<std::pair<std::string, double>> vocabulary,
             std::optional<token_id> unknown, bool byte_fallback,
             std::string_view origin);

} // namespace troupe::models
