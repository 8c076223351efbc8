#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// A federation that learns nothing: what remains is the runtime. One block of
/// so many values travels.
/// @pre the catalogue has such a method, and its first block is the one that
/// all fetch
workload idle_workload(const std::string& method, std::size_t clients,
                       std::size_t values);

/// How runs of it go: 256 clients under the wall clock, whose offers make a
/// version by 64, with the catalogue's first method, which has one block and
/// one leg.
/// @param changes keys and values, of which one says how long it lasts
[[nodiscard]] result<experiment>
idle_experiment(std::vector<std::string> changes);

/// What such a run is about: a block of 1,000 values.
workload idle_workload_of(const experiment& x);

} // namespace troupe::node
