#pragma once

#include <memory>

#include "models/trainer.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// Scores as the other does, but for a model from a file whose loss is no
/// number before anything is learned: who trained on would be told of the
/// learning rate.
std::unique_ptr<models::trainer>
looking_first(std::unique_ptr<models::trainer> behind, const experiment& x);

} // namespace troupe::node
