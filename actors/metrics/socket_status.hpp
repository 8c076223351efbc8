#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/metrics/status.hpp"

namespace troupe::actors {

/// What crossed a process's socket, and who is there. `up` is from clients to
/// their server, on either side.
struct socket_status {
  struct crossed {
    std::uint64_t pieces = 0;
    std::uint64_t bytes = 0;
  };

  /// Of large messages that crossed whole, and of all that have values.
  struct carried {
    std::uint64_t transfers = 0;
    duration_counts values = {};
  };

  /// Connections that were made or not, and that ended.
  struct handshake_counts {
    std::uint64_t made = 0;
    std::uint64_t refused = 0;
    std::uint64_t unlike = 0;
    std::uint64_t broken = 0;
    std::uint64_t lost = 0;
  };

  /// Clients that processes speak for.
  struct lease_counts {
    std::uint64_t numbers = 0;
    std::uint64_t numbers_max = 0;
    std::uint64_t names = 0;
    std::uint64_t names_max = 0;
  };

  std::uint64_t connected = 0; ///< Processes.
  std::uint64_t connected_max = 0;
  std::uint64_t met = 0;    ///< Those that were ever here.
  std::uint64_t behind = 0; ///< Of the former, those that read too slowly.
  handshake_counts listened;
  handshake_counts dialled;
  lease_counts leased;                    ///< Of a server.
  std::map<std::string, crossed> up = {}; ///< By kind.
  std::map<std::string, crossed> down = {};
  carried carried_up;
  carried carried_down;
  std::uint64_t credit_waits = 0;
  std::uint64_t transfers_in = 0;      ///< Large messages under way.
  std::uint64_t transfers_waiting = 0; ///< For room here.
  std::uint64_t transfers_out = 0;
  std::uint64_t unsent_bytes = 0;
  std::uint64_t unhandled_bytes = 0;
  std::uint64_t unhandled_bytes_max = 0;
  std::uint64_t unhandled_frames = 0;
  std::uint64_t unhandled_frames_max = 0;
  std::uint64_t malformed = 0; ///< Pieces.
  std::uint64_t dropped = 0;   ///< Messages: too much waited already.
  std::uint64_t failures = 0;
  std::uint64_t dialled_anew = 0;
  std::map<std::string, std::uint64_t> refused = {}; ///< By reason.
  std::vector<std::string> refused_lately = {};
};

/// All that can be seen of a run from outside, also of one that is served.
struct seen_run : run_status {
  std::optional<socket_status> socket = {}; ///< Of a run that is served.
};

} // namespace troupe::actors
