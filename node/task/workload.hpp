#pragma once

// What a run learns and from what: everything about it that has neither actors
// nor a clock.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "core/result.hpp"
#include "models/layout.hpp"
#include "models/local_trainer.hpp"
#include "node/config/experiment.hpp"
#include "node/task/materials.hpp"
#include "policies/devices.hpp"
#include "policies/presence.hpp"

namespace troupe::node {

struct workload {
  recipe method;
  std::shared_ptr<const models::layout> blocks;
  /// Of all travelling blocks, where lines begin here.
  std::map<block_id, shared_values> initial;
  std::shared_ptr<const models::local_task> task;
  models::trainer_factory make_trainer;
  /// The same of a task that differs in who has which rows. May be empty.
  std::function<models::trainer_factory(
    std::shared_ptr<const models::local_task>)>
    trainers_of = {};
  models::objective_factory make_objective = {}; ///< Over the same rows.
  bool has_labels = true;                        ///< Accuracy means something.
  policies::fleet devices = {};
  policies::presence::options life; ///< Of all that may be invited.
  /// Names the examples; empty where there are none to differ in.
  std::function<models::digest()> data_digest = {};
  example_shape shape = {};
  bool counts_tokens = false; ///< Scores are of tokens: perplexity means
                              ///< something.
  /// What the model is, if it is one of language, and tokens of a window.
  std::optional<models::language_spec> language = {};
  std::uint64_t window = 0;
  std::optional<texts_left_out> left_out = {}; ///< Of texts that are read here.
  std::vector<std::string> user_names = {};    ///< As of `materials`.
  std::vector<std::string> label_names = {};   ///< Likewise.
  std::string remark = {}; ///< To be said once; empty: there is none.

  std::uint64_t examples(client_id x) const {
    return task->clients.train[x.value - 1].size();
  }
};

/// Bytes that offers under way or waiting may take.
std::uint64_t memory_of(const experiment& x, const models::layout& blocks);

/// Reads the data, deals it, makes the model and its first values. Returns
/// `invalid_config` where the parts do not fit each other, and `invalid_data`.
[[nodiscard]] result<workload> prepare(const experiment& x,
                                       const model_maker& make_model);

/// The same of what is there already.
[[nodiscard]] result<workload> prepare(const experiment& x, materials found);

} // namespace troupe::node
