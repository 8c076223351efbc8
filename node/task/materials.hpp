#pragma once

// What a run learns from: rows and who holds them, or a problem that has none.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/values.hpp"
#include "models/data/example_set.hpp"
#include "models/language/base.hpp"
#include "models/language/language_config.hpp"
#include "models/language/spec.hpp"
#include "models/language/token_rows.hpp"
#include "models/layout.hpp"
#include "models/local_trainer.hpp"
#include "models/objective.hpp"
#include "node/config/experiment.hpp"
#include "node/task/texts_left_out.hpp"

namespace troupe::node {

/// Makes a model of a kind that needs torch.
using model_maker = std::function<result<std::unique_ptr<models::objective>>(
  const model_options& what, std::shared_ptr<const models::dataset> data)>;

/// Makes a language model. Empty where there is no torch.
using language_maker = std::function<result<std::unique_ptr<models::objective>>(
  const models::language_config& config,
  std::shared_ptr<const models::language_base> base,
  std::shared_ptr<const models::token_rows> rows)>;

/// Makes a model whose adapters stand inside it, over these weights.
using inner_maker =
  std::function<result<std::unique_ptr<models::objective>>(shared_values base)>;
using inner_model_maker =
  std::function<result<std::unique_ptr<models::objective>>(
    const model_options& what, std::shared_ptr<const models::dataset> data,
    shared_values base)>;

/// What an example must be that somebody else brings. Without extents none can
/// be brought.
struct example_shape {
  std::vector<std::uint32_t> inputs = {};
  std::uint32_t classes = 0;
  std::uint64_t examples_max = 0; ///< Of one client.
};

/// The parts of a task on its way to become a workload.
struct materials {
  models::partition clients;
  std::size_t test_size = 0;
  models::objective_factory make_objective;
  /// Of who trains; empty: clients train what `make_objective` makes.
  inner_maker make_inner = {};
  bool has_labels = true;
  std::size_t groups =
    0; ///< Client k is in group (k - 1) mod this; 0: unknown.
  std::vector<std::vector<float>> truths = {}; ///< Of clients, where known.
  /// Names the examples; empty where there are none to differ in.
  std::function<models::digest()> data_digest = {};
  example_shape shape = {};
  bool starts = true; ///< Of lines are made here; who joins fetches them.
  /// Over the same rows; empty: the method has no common model.
  models::objective_factory make_common = {};
  bool counts_tokens = false; ///< Scores are of tokens: perplexity means
                              ///< something.
  /// What the model is, if it is one of language.
  std::optional<models::language_spec> language = {};
  /// Who each client is: "user 'it' of PATH"; empty where nobody knows.
  std::vector<std::string> users = {};
  std::optional<texts_left_out> left_out = {}; ///< Of texts that are read here.
  /// The names of those users alone, where each is a client.
  std::vector<std::string> user_names = {};
  /// What the classes of texts are called, in the order of a head's rows.
  std::vector<std::string> label_names = {};
  std::string remark = {}; ///< To be said once; empty: there is none.
};

/// Whether the method has a model that nobody trains and all look through.
bool has_common(const experiment& x);

/// What that is: as [common_model] says or, without it, as [model] does.
const model_options& common_model_of(const experiment& x);

/// Makes it over examples; empty where the method has none.
models::objective_factory
common_over(const experiment& x, std::shared_ptr<const models::dataset> data,
            const model_maker& make_model);

/// Makes what clients train over examples; empty where adapters are composed.
inner_maker inner_over(const experiment& x,
                       std::shared_ptr<const models::dataset> data,
                       const inner_model_maker& make_inner);

/// Reads or makes them. Returns `invalid_config` or `invalid_data`. Models
/// whose adapters stand inside are by the torch that the first of them loads.
[[nodiscard]] result<materials> materials_of(const experiment& x,
                                             const model_maker& make_model);

/// The same by a torch that is there.
[[nodiscard]] result<materials>
materials_of(const experiment& x, const model_maker& make_model,
             const inner_model_maker& make_inner);

} // namespace troupe::node
