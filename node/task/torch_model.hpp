#pragma once

#include <memory>

#include "node/config/experiment.hpp"
#include "core/result.hpp"
#include "models/data/example_set.hpp"
#include "models/objective.hpp"

namespace troupe::node {

/// The model of a configuration, made by torch. @pre it is not a quadratic
[[nodiscard]] result<std::unique_ptr<models::objective>>
make_torch_model(const model_options& what,
                 std::shared_ptr<const models::dataset> data);

} // namespace troupe::node
