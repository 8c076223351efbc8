#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "models/language/scores/text_scores.hpp"
#include "node/commands/command.hpp"
#include "node/commands/eval_prompts.hpp"
#include "node/task/materials.hpp"
#include "node/watch/wait_notice.hpp"

namespace troupe::node {

/// Of which run clients write.
struct writing_question {
  std::string folder;
  std::size_t beam = 1;
  std::size_t tokens = 32; ///< At most, of each text.
};

/// What a client's own model writes.
struct client_writing {
  client_id client;
  std::vector<written_text> texts = {}; ///< Of each thing once.
  std::size_t cut = 0; ///< Texts that are meant, and go on beyond the context.
  models::text_scores scores = {};
};

struct writing_of_run {
  std::vector<client_writing> clients;
  models::text_scores mean; ///< Over clients, each of which counts the same.
};

/// @pre !xs.empty()
models::text_scores mean_of(const std::vector<client_writing>& xs);

/// Computes a run again, which ends where anything differs, since what clients
/// keep to themselves is in no folder; then each client's own model writes what
/// its test rows describe, and is scored by these. Returns `invalid_config`
/// where nothing is described, nobody has test rows, or a client's data is
/// elsewhere.
[[nodiscard]] result<writing_of_run> writing_of(const writing_question& x,
                                                const model_maker& make_model,
                                                const stage_teller& now = {});

/// `troupe eval RUN --writing`
exit_code eval_writing(const writing_question& x, const model_maker& make_model,
                       bool in_json, streams io);

} // namespace troupe::node
