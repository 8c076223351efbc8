#pragma once

// What processes that have a run and those that join one say alike.

#include <map>
#include <string>

#include "actors/metrics/families.hpp"
#include "actors/metrics/socket_status.hpp"

namespace troupe::actors {

void put_build(families& to);

/// The recipe's own figures, but for those of single clients.
void put_results(families& to, const std::map<std::string, double>& x);

/// Behind those of phases.
void put_workers(families& to, const crew_status& x, const process_outlay& of);

void put_disk(families& to, const process_outlay& x);

/// Readers of these pages, and the process itself.
void put_process(families& to, const reader_status& readers,
                 const process_outlay& x);

void put_socket(families& to, const socket_status& x);

} // namespace troupe::actors
