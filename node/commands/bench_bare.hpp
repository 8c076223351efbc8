#pragma once

// What ZeroMQ alone takes for what figures of the wire measure, between two
// processes.

#include <cstddef>
#include <vector>

#include "actors/transport/zmq/bare.hpp"
#include "core/result.hpp"

namespace troupe::node {

/// How fast small frames went to and fro.
struct pace_of_frames {
  double a_second = 0;
  double p99_seconds = 0;
  double cpu_seconds = 0; ///< Of both processes, for one of them.
};

pace_of_frames pace_of(const std::vector<double>& taken, double wall);

/// An echo.
result<pace_of_frames> echoed(const transport::bare::questions& x);

/// CPU of both ends for a byte that is brought in one direction.
result<double> bare_seconds_per_byte(const transport::bare::security& keys);

} // namespace troupe::node
