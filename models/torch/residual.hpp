#pragma once

#include <cstdint>

#include "models/torch/architecture.hpp"
#include "models/torch/model_config.hpp"

namespace troupe::models {

/// The residual network that `config` names, on images of this shape.
architecture make_residual(const model_config& config, image_extents of,
                           std::int64_t classes);

} // namespace troupe::models
