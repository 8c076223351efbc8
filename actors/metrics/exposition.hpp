#pragma once

#include <string>

#include "actors/metrics/process_status.hpp"

namespace troupe::actors {

/// A run's status as Prometheus reads it. No client is named.
std::string exposition_of(const run_status& x);
std::string exposition_of(const seen_run& x);

/// The same of a process with clients of a run that is served elsewhere.
std::string exposition_of(const process_status& x);

} // namespace troupe::actors
