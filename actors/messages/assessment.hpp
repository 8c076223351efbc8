#pragma once

// How those who live elsewhere are asked for scores: within the process, as all
// of actors/messages/internal.hpp.

#include <cstdint>
#include <vector>

#include "actors/messages/scores.hpp"
#include "core/ids.hpp"

namespace troupe::messages {

/// Has the gateway ask all processes that have clients here.
struct scores_wanted {
  std::uint64_t question = 0;
  std::vector<block_values> blocks;
};

/// It has asked these.
struct scores_under_way {
  struct process {
    peer_id peer;
    std::vector<client_id> clients; ///< Sorted.
  };

  std::uint64_t question = 0;
  std::vector<process> asked;
};

/// A process said something of its clients.
struct scores_heard {
  peer_id from;
  scores_told what;
};

} // namespace troupe::messages
