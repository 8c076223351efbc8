#pragma once

#include "core/result.hpp"
#include "models/data/example_set.hpp"

namespace troupe::models {

std::size_t size_of_example(const column& x);

/// Returns `invalid_data`, with the name of the data, where sizes, shapes,
/// types or labels contradict each other.
result<void> check_dataset(const dataset& data);

} // namespace troupe::models
