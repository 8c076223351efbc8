#pragma once

// A router that is no node's, to measure the way of a request.

#include <cstdint>
#include <vector>

#include <caf/actor_system.hpp>

#include "actors/interfaces.hpp"

namespace troupe::actors {

struct lone_router {
  router_actor router;
  expert_actor keeper; ///< Of all lines.
};

/// Serves nothing: what comes to an expert is counted.
/// @param heard outlives the actors
lone_router start_lone_router(caf::actor_system& system,
                              const std::vector<line_id>& lines,
                              std::uint64_t& heard);

} // namespace troupe::actors
