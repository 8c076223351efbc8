#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/json.hpp"
#include "core/result.hpp"
#include "models/language/base.hpp"
#include "models/language/scores/said_and_meant.hpp"
#include "models/language/scores/text_scores.hpp"
#include "models/language/tokenizer.hpp"
#include "node/commands/command.hpp"
#include "node/task/materials.hpp"
#include "node/watch/wait_notice.hpp"

namespace troupe::node {

/// Which texts are to go on, and by what.
struct prompts_question {
  std::string model;
  std::string prompts;
  std::string tokenizer = {}; ///< Empty: the model's own.
  std::size_t beam = 1;
  std::size_t tokens = 32; ///< At most, of what is written.
};

struct text_prompt {
  std::string text;
  std::vector<std::string> meant = {}; ///< May be empty.
  std::size_t line = 0;                ///< In its file, from 1.
};

/// Of a file's text: a line is a prompt, or {"prompt": …, "meant": […]} where
/// the name ends in .jsonl; empty lines are none. Returns `invalid_data` with
/// the line.
[[nodiscard]] result<std::vector<text_prompt>>
parse_prompts(const std::string& name, const std::string& text);

struct written_text {
  text_prompt of;
  std::string said;
  double log_chance = 0;
  bool has_ended = false;
};

struct written_texts {
  std::shared_ptr<const models::language_base> base = {};
  std::shared_ptr<const models::tokenizer> by = {};
  std::vector<written_text> texts = {};
  std::size_t tokens = 0; ///< Written, of all.
  /// Of those that something is meant by; nothing: none are.
  std::optional<models::text_scores> scores = {};
  instant took = {}; ///< The model alone.
};

/// As answers have them.
json json_of_text(const written_text& x);
json json_of_scores(const models::text_scores& x);

/// "of 1 of 2 texts", as scores are of those alone that something is meant by;
/// empty: by all.
std::string of_how_many(const std::vector<written_text>& texts);

/// Returns `invalid_config` where the model writes no texts, and `invalid_data`
/// of files and prompts.
[[nodiscard]] result<written_texts> texts_of(const prompts_question& x,
                                             const language_maker& make,
                                             const stage_teller& now = {});

/// `troupe eval --model PATH --prompts FILE`.
exit_code eval_prompts(const prompts_question& x, bool json, streams io);

} // namespace troupe::node
