#pragma once

// What a run came to, from where all stand at its end.

#include <filesystem>
#include <string>

#include "actors/gateway/traffic.hpp"
#include "core/clock.hpp"
#include "node/task/workload.hpp"
#include "node/watch/chronicle.hpp"
#include "node/watch/summary.hpp"

namespace troupe::node {

struct run_end {
  const experiment& x;
  const workload& work;
  const chronicle& watching; ///< The run is over.
  const actors::traffic& counted;
  std::filesystem::path folder;
  bool is_served = false;
  bool is_stopped = false;        ///< Somebody wanted its end.
  std::string snapshot_lost = {}; ///< Why the last one could not be kept.
  std::string first_digest = {};  ///< Of what its lines began with.
  instant began{};
  instant cpu{}; ///< That was taken before.
};

run_summary outcome_of(const run_end& of);

} // namespace troupe::node
