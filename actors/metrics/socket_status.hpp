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

  std::uint64_t connected = 0; ///< Processes.
  std::uint64_t met = 0;       ///< Those that were ever here.
  std::uint64_t behind = 0;    ///< Of the former, those that read too slowly.
  std::map<std::string, crossed> up = {}; ///< By kind.
  std::map<std::string, crossed> down = {};
  std::uint64_t transfers_in = 0;      ///< Large messages under way.
  std::uint64_t transfers_waiting = 0; ///< For room here.
  std::uint64_t transfers_out = 0;
  std::uint64_t unsent_bytes = 0;
  std::uint64_t unhandled_bytes = 0;
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
