#pragma once

// Where a process stands that has clients of a run that is served elsewhere,
// for those who look at it from outside.

#include <cstdint>
#include <map>
#include <string>

#include "actors/metrics/socket_status.hpp"

namespace troupe::actors {

struct process_status {
  enum class step : std::uint8_t {
    looking,   ///< For the server, or for what the run is.
    making,    ///< Its model and data.
    beginning, ///< Its clients and what they have kept.
    taking_part,
  };

  std::string address; ///< Of the server.
  step at = step::looking;
  std::int64_t now_ms = 0; ///< Since 1970, as are the next three.
  std::int64_t began_ms = 0;
  std::int64_t changed_ms = 0;  ///< When the connection was made or lost.
  std::int64_t progress_ms = 0; ///< When last a visit was done here.
  bool connected = false;
  bool ever_connected = false;
  bool server_away = false; ///< It said that it will be back.
  std::uint64_t clients = 0;
  crew_status crew;
  std::uint64_t worker_mailbox = 0; ///< Jobs that wait for the kernel worker.
  socket_status socket;
  std::map<std::string, double> results; ///< The method's, of its clients.
  bool over = false;
  std::string reason; ///< Why it ended.
  std::uint64_t store_bytes = 0;
  bool store_waits = false; ///< For the disk.
  duration_counts stored;   ///< What its clients keep.
  process_outlay own;
};

} // namespace troupe::actors
