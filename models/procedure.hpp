#pragma once

// What a client's local method has to work with between fetch and offer. Over
// flat buffers, so the same lines train a torch module, a script and a
// quadratic.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.hpp"
#include "core/recipe.hpp"
#include "core/result.hpp"
#include "kernels/backend.hpp"
#include "models/adapters/adapters.hpp"
#include "models/data/example_set.hpp"
#include "models/embedder.hpp"
#include "models/layout.hpp"
#include "models/objective.hpp"
#include "models/trainer.hpp"
#include "policies/schedule.hpp"

namespace troupe::models {

struct inner_plans;

enum class optimiser_kind : std::uint8_t { sgd, adamw };

/// Which rows the batches of a visit have.
enum class batch_rule : std::uint8_t {
  epochs,   ///< All rows once, then again.
  drawn,    ///< Rows with replacement.
  anywhere, ///< Any place from the first row to the last, with replacement:
            ///< windows of a stream.
};

/// What the configuration says about every visit.
struct training_options {
  std::uint32_t local_epochs = 1;
  std::uint32_t local_steps = 0; ///< Above zero: takes the place of the epochs.
  std::uint32_t batch_size = 32; ///< 0: all examples at once.
  bool shuffle = true; ///< Else every epoch has the order of the rows.
  optimiser_kind optimiser = optimiser_kind::sgd;
  double learning_rate = 0.01;
  policies::rate_schedule schedule = {};
  double momentum = 0;
  double weight_decay = 0;
  /// The share of visits that are stragglers: they do a random part of their
  /// epochs (FedProx).
  double stragglers = 0;
  bool drop_stragglers = false; ///< They offer nothing instead (FedAvg).
  /// The largest norm of all deltas of a visit together, beyond which the offer
  /// would be refused; longer ones are shortened. 0: none.
  double norm_max = 0;
  options method = {}; ///< proximal, lambda, …: all that the recipe has.
  batch_rule batches = batch_rule::epochs;
  /// Above 0: the schedule follows the client's own steps, of so many.
  std::uint64_t own_steps = 0;
  /// The first of these, in which the rate rises to all of it; the schedule
  /// follows those behind them. @pre fewer than `own_steps`, or 0
  std::uint64_t warmup_steps = 0;
  std::uint32_t micro_batch = 0; ///< Rows of a pass, where a model can; 0: all.
  double beta1 = 0.9;            ///< What AdamW's moments keep at a step.
  double beta2 = 0.999;
  /// Of client k entry (k - 1) mod their number: how many experts its blocks
  /// have, or the MiB that these may take. At most one is said.
  std::vector<std::uint32_t> experts = {};
  std::vector<double> expert_memory = {};
};

/// Everything that a local method may use.
struct local_problem {
  objective& model; ///< Of this visit's slot.
  kernels::backend& arithmetic;
  const recipe& method;
  const layout& blocks;
  const training_options& how;
  /// Of this visit: the learning rate as scheduled. Where the schedule follows
  /// a client's own steps, of its first one.
  double rate;
  std::span<const std::uint32_t> rows; ///< The client's training examples.
  double weight = 1; ///< An offer's weight before shares: n, its root, …
  const adapter_plan* adapters = nullptr; ///< Of the model, if the recipe has.
  /// Client k's data are of kind (k - 1) mod this, where that is known; 0: not.
  std::size_t groups = 0;
  /// Of adapters that clients keep, where these have a rank of their own.
  const adapter_plan* own_adapters = nullptr;
  /// First values of what nobody trains, by block.
  const std::map<std::string, shared_values>* frozen = nullptr;
  const partition* clients = nullptr; ///< All rows that are here.
  /// Of each client, the parameters that its data are made of; empty: unknown.
  std::span<const std::vector<float>> truths = {};
  embedder* common = nullptr; ///< Null: the recipe has none.
  /// That this client has made in its life, where the schedule follows these.
  std::uint64_t steps_before = 0;
  /// What stands inside the layers of the model; null: nothing does.
  const inner_plans* inside = nullptr;
  /// Of client k entry (k - 1) mod their number; see `experts_of`.
  std::span<const std::uint32_t> experts = {};
  /// Of first values that are a client's own, and all the same.
  std::uint64_t first_seed = 0;
};

} // namespace troupe::models
