#pragma once

#include <string>

#include "actors/metrics/process_status.hpp"

namespace troupe::actors {

/// A run's status as Prometheus reads it. No client is named.
std::string exposition_of(const seen_run& x, const reader_status& readers = {});

/// The same of a process with clients of a run that is served elsewhere.
std::string exposition_of(const process_status& x,
                          const reader_status& readers = {});

} // namespace troupe::actors
