#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "models/language/base.hpp"
#include "models/language/tokenizer.hpp"
#include "models/objective.hpp"
#include "node/commands/command.hpp"
#include "node/task/materials.hpp"
#include "node/watch/wait_notice.hpp"

namespace troupe::node {

/// Which text, and by what.
struct text_question {
  std::string model;
  std::string text;
  std::string tokenizer = {}; ///< Empty: the model's own.
  std::size_t context = 0;    ///< Tokens of a window; 0: as many as the model
                              ///< takes and the text has, at most 1,024.
};

/// What a model foretells of a text: each token but the first, from those
/// before it in its window.
struct text_worth {
  std::shared_ptr<const models::language_base> base;
  std::shared_ptr<const models::tokenizer> by;
  std::size_t context = 0;
  std::size_t tokens = 0;        ///< Of the text.
  std::size_t bytes = 0;         ///< Of the text.
  std::size_t decoded_bytes = 0; ///< Of what its tokens say.
  models::scores scores = {};    ///< Of tokens.
  instant took = {};             ///< The model alone.
};

/// Returns `invalid_config` where model, tokenizer and context do not go
/// together, and `invalid_data` of files and of a text without a whole window
/// of the size that was said, or without a second token.
[[nodiscard]] result<text_worth> worth_of(const text_question& x,
                                          const language_maker& make,
                                          const stage_teller& now = {});

/// `troupe eval --model PATH --text FILE`.
exit_code eval_text(const std::string& model, const std::string& text,
                    const std::string& tokenizer, std::size_t context,
                    bool json, streams io);

} // namespace troupe::node
