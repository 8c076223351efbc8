#pragma once

#include <string>

#include "actors/metrics/status.hpp"

namespace troupe::actors {

/// A run's status as Prometheus reads it. No client is named.
std::string exposition_of(const run_status& x);

} // namespace troupe::actors
