#pragma once

// What the readers of tokenizers share, whatever the file's format.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/result.hpp"
#include "models/language/piece_model.hpp"
#include "models/language/token_pipeline.hpp"
#include "models/language/tokenizer.hpp"
#include "models/layout.hpp"

namespace troupe::models {

/// What a tokenizer's digest is of: texts, each with its length before it.
class canonical_text {
public:
  void say(std::string_view x);
  void say(const vocabulary_list& xs); ///< In the order of their ids.
  void say(const merge_list& xs);
  void say(const std::vector<added_token>& xs);
  void say(std::span<const token_id> xs);

  digest sum() const;

private:
  std::string all_;
};

/// The names of special tokens by what they are for, as far as a file says.
struct special_names {
  std::optional<std::string> begin = {}, end = {}, pad = {}, unknown = {},
                             mask = {};
};

/// @param config of tokenizer_config.json or special_tokens_map.json
special_names special_names_in(const json& config);

/// Whose name is not said has one that people use, if that is an added special
/// token; the unknown one is the model's.
special_tokens special_of(const special_names& said, const piece_model& model,
                          const std::vector<added_token>& added);

/// As `parse_tokenizer`, with what the files beside it say.
[[nodiscard]] result<std::shared_ptr<const tokenizer>>
parse_tokenizer(const json& tokenizer_json, const special_names& said,
                std::string_view origin);

/// Refuses what is there and of another kind than its key has, by where it
/// stands.
[[nodiscard]] result<void> check_kinds(const json& tokenizer_json,
                                       std::string_view origin);

/// An object of names and ids. `invalid_data`: something else, or an id that
/// no vocabulary has.
[[nodiscard]] result<vocabulary_list> vocabulary_in(const json* x,
                                                    std::string_view origin);

/// "a b": two tokens with a space between. @param number for texts, from 1
[[nodiscard]] result<std::pair<std::string, std::string>>
merge_in(std::string_view line, std::size_t number, std::string_view origin);

tl::unexpected<error> refuse_id(token_id id, std::size_t size);

tl::unexpected<error> refuse_tokenizer(std::string_view origin,
                                       const std::string& what);

} // namespace troupe::models
