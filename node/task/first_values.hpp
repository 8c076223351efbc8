#pragma once

// Where a run begins: from its seed, or from a file of weights.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/recipe.hpp"
#include "core/result.hpp"
#include "core/values.hpp"
#include "models/gate.hpp"
#include "models/inner_setup.hpp"
#include "models/layout.hpp"
#include "models/local_trainer.hpp"
#include "models/objective.hpp"
#include "models/shapes.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// What blocks are made of, beside the model.
struct beside_model {
  std::optional<models::adapter_plan> adapters = {};
  std::optional<kernels::gate_shape> gate = {};
  std::unique_ptr<models::objective> common = {}; ///< Null: there is none.
  /// Its values, by its families.
  std::map<std::string, shared_values> common_values = {};
  /// What stands inside the layers of the model.
  std::optional<models::inner_plans> inside = {};
};

/// Of all travelling blocks. Returns `invalid_config` if the file does not fit.
[[nodiscard]] result<std::map<block_id, shared_values>>
first_values(const experiment& x, const recipe& method,
             models::objective& model, const models::layout& blocks,
             const beside_model& beside);

/// Gives the task the adapters that clients keep, and the models that nobody
/// trains: a file's, if one is said. Its layout notes what they hold. Returns
/// `invalid_config` if the run takes nothing of that file.
[[nodiscard]] result<void> complete(const experiment& x,
                                    models::objective& model,
                                    const beside_model& beside,
                                    models::local_task& task);

} // namespace troupe::node
