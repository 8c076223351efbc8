#pragma once

// What stands before a tokenizer's model, and behind it: steps that change a
// text, steps that cut it, and one that makes bytes of tokens again.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "core/result.hpp"
#include "models/language/piece_model.hpp"
#include "models/language/tokenizer.hpp"
#include "models/layout.hpp"

namespace troupe::models {

/// A token that is found in the text before anything else looks at it; a
/// special one only where it is asked for.
struct added_token {
  std::string text;
  token_id id = 0;
  bool special = false;
};

/// A normaliser.
using text_step = std::function<result<std::string>(std::string)>;

/// A pre-tokenizer.
using split_step =
  std::function<result<std::vector<std::string>>(std::vector<std::string>)>;

/// A decoder: tokens' texts to bytes.
using join_step = std::function<result<std::string>(std::vector<std::string>)>;

struct token_pipeline {
  std::vector<text_step> normalise;
  std::vector<split_step> split;
  join_step join;
  bool byte_level = false; ///< Pieces are of GPT-2's letters, one for a byte.
};

/// Refuses kinds it does not know, by name.
[[nodiscard]] result<token_pipeline> pipeline_of(const json& tokenizer_json,
                                                 std::string_view origin);

/// Each byte becomes its letter, after a cut by the pattern. Empty: GPT-2's;
/// an empty text: nothing is cut. A pattern that is none fails at each call.
split_step byte_level_split(std::optional<std::string> pattern,
                            bool prefix_space, std::string_view origin);

split_step bert_split();

text_step bert_normaliser(bool clean, bool chinese, bool strip, bool lower);

/// GPT-2's letter of a byte, as UTF-8.
std::string_view byte_letters(std::uint8_t byte) noexcept;

/// The pattern of a GGUF file's tokenizer.ggml.pre: "gpt-2", "smollm",
/// "llama-bpe", "qwen2", "default"; nothing: not known.
std::optional<std::vector<std::string>> patterns_of(std::string_view pre);

/// @pre how.join is there
std::shared_ptr<const tokenizer>
assemble(std::unique_ptr<piece_model> model, token_pipeline how,
         std::vector<added_token> added, special_tokens special,
         text_frame frame, const digest& content);

} // namespace troupe::models
