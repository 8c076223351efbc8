#pragma once

#include "models/data/example_set.hpp"
#include "models/layout.hpp"

namespace troupe::models {

/// Over all that is learned from and scored on: two that have the same are the
/// same.
digest digest_of(const dataset& data);

} // namespace troupe::models
