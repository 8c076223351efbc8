#pragma once

// From a configuration to the data that it names and to who holds what of it.

#include "core/result.hpp"
#include "models/data/example_set.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// Reads or generates the data. Returns `invalid_data` if it is missing or
/// damaged.
/// @pre the data has no model of its own, and is no text
[[nodiscard]] result<models::dataset> load_data(const experiment& x);

/// Deals the examples to the clients. Validation rows are set aside only if
/// `stop` watches them.
[[nodiscard]] result<models::partition> deal(const experiment& x,
                                             const models::dataset& data);

} // namespace troupe::node
