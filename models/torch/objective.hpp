#pragma once

#include <memory>

#include "core/result.hpp"
#include "core/values.hpp"
#include "models/data/example_set.hpp"
#include "models/objective.hpp"
#include "models/torch/model_config.hpp"

namespace troupe::models {

/// A torch module over flat buffers, with the mean cross-entropy as its loss.
/// It computes in the thread that calls it, whose torch it sets to one thread.
/// Returns `invalid_config` if the model does not fit the data or the file of a
/// script cannot be used, and `invalid_data` if the data contradicts itself.
[[nodiscard]] result<std::unique_ptr<objective>>
make_torch_objective(const model_config& config,
                     std::shared_ptr<const dataset> data);

/// The same over weights that nobody trains: its parameters are factors inside
/// its layers (`inside`), and nothing at first. Its outputs are those of the
/// model with what is attached composed into these. Returns `invalid_config`
/// also where the model has other layers than linear ones.
[[nodiscard]] result<std::unique_ptr<objective>>
make_inner_objective(const model_config& config,
                     std::shared_ptr<const dataset> data, shared_values base);

} // namespace troupe::models
