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

enum class optimiser_kind : std::uint8_t { sgd, adamw };

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
};

/// Everything that a local method may use.
struct local_problem {
  objective& model; ///< Of this visit's slot.
  kernels::backend& arithmetic;
  const recipe& method;
  const layout& blocks;
  const training_options& how;
  double rate; ///< Of this visit: the learning rate as scheduled.
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
};

} // namespace troupe::models
