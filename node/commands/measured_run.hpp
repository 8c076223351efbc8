#pragma once

// A federation in this process that is run for what it costs.

#include <cstdint>
#include <memory>

#include "core/result.hpp"
#include "node/run/federation.hpp"

namespace troupe::node {

/// What it cost, from its begin to its end.
struct run_cost {
  double wall_seconds = 0;
  double cpu_seconds = 0; ///< Of all threads of this process.
  std::uint64_t visits = 0;
};

/// Knows what a run was, and shows nobody.
std::shared_ptr<chronicle> quiet_chronicle(const experiment& x,
                                           const workload& work);

/// Begins its lines, and runs it until it is over.
[[nodiscard]] result<run_cost> measure(const federation& f);

} // namespace troupe::node
