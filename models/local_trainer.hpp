#pragma once

// Visits on the data of this host: a recipe's procedures over an objective and
// the rows that each client holds.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/data/example_set.hpp"
#include "models/embedder.hpp"
#include "models/inner_setup.hpp"
#include "models/methods/local_method.hpp"
#include "models/shapes.hpp"
#include "models/trainer.hpp"

namespace troupe::models {

/// Clients that send something else than they learned, to test who withstands
/// it.
struct attack {
  std::set<client_id> clients;
  double scale = 1; ///< Every delta of theirs is multiplied by this.
};

using objective_factory = std::function<result<std::unique_ptr<objective>>()>;

/// What all trainers of a run share. Nobody changes it.
struct local_task {
  recipe method;
  layout blocks;
  training_options how;
  partition clients;
  std::size_t test_size = 0; ///< Rows of the whole test set.
  /// Of each client's offers, before shares: n, its root, … Empty: n.
  std::vector<double> weights = {};
  attack attackers = {};
  std::optional<adapter_plan> adapters = {}; ///< Where the recipe has some.
  std::size_t groups = 0;                    ///< See `local_problem`.
  std::optional<adapter_plan> own_adapters = {};
  std::map<std::string, shared_values> frozen = {};
  std::vector<std::vector<float>> truths = {};
  bool population_error = false; ///< Clients' own test loss is a result.
  /// Makes the common model, whose values are frozen; empty: there is none.
  objective_factory make_common = {};
  /// Its embeddings, which all trainers of the process share; null: each has
  /// its own.
  std::shared_ptr<embedding_table> embedded = {};
  method_table table = local_methods();
  /// What stands inside the layers of the model, and how many experts clients
  /// have, by turns.
  std::optional<inner_plans> inside = {};
  std::vector<std::uint32_t> experts = {};
  std::uint64_t first_seed = 0; ///< See `local_problem`.
};

/// Trains as many visits in step as it has objectives. A visit that names a
/// client without data here is `invalid_argument`. Under a recipe that offers
/// nothing there is no global model, and the global scores are empty. A
/// client's own rows are scored with its own model where it has one, and with
/// its own buffers.
///
/// Returns `invalid_config`, naming what there is, if a role's procedure or a
/// leg's choice is not in the table, `weights` do not match the clients, or the
/// common model has no embeddings.
result<std::unique_ptr<trainer>>
make_local_trainer(std::shared_ptr<const local_task> task,
                   std::unique_ptr<objective> model,
                   std::unique_ptr<kernels::backend> arithmetic);

/// With several. @pre there is one
result<std::unique_ptr<trainer>>
make_local_trainer(std::shared_ptr<const local_task> task,
                   std::vector<std::unique_ptr<objective>> models,
                   std::unique_ptr<kernels::backend> arithmetic);

using backend_factory =
  std::function<result<std::unique_ptr<kernels::backend>>()>;

/// How many visits a trainer computes in step: at most `most`, and no more than
/// have models that fit into `bytes` together; one in any case. A model is its
/// parameters, gradient and buffers: what a method holds beside it (moments,
/// models of its own) comes on top.
struct in_step_limit {
  std::size_t most = 1;
  std::size_t bytes = std::size_t{1} << 30;
};

/// Trainers over one task, each with a backend, by default the CPU's, and an
/// objective for each visit in step.
trainer_factory local_trainers(std::shared_ptr<const local_task> task,
                               objective_factory make_objective,
                               in_step_limit in_step = {},
                               backend_factory make_backend = {});

} // namespace troupe::models
