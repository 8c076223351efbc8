#pragma once

#include <cstddef>
#include <string>

#include "node/task/workload.hpp"

namespace troupe::node {

/// A federation that learns nothing: what remains is the runtime. One block of
/// so many values travels.
/// @pre the catalogue has such a method, and its first block is the one that
/// all fetch
workload idle_workload(const std::string& method, std::size_t clients,
                       std::size_t values);

} // namespace troupe::node
