#pragma once

// The only place that reads a clock of the machine. Whoever decides something
// gets its time as an argument: an instant of the run, virtual or not.

#include <chrono>
#include <cstdint>

namespace troupe {

/// Time since the run began, under whichever clock it runs.
using instant = std::chrono::nanoseconds;

constexpr double seconds(instant x) noexcept {
  return std::chrono::duration<double>{x}.count();
}

/// What no run lasts; two of them can be added.
inline constexpr instant forever = std::chrono::hours{24 * 365 * 100};

/// Rounds to whole nanoseconds. What is longer, or no number, is `forever`.
constexpr instant from_seconds(double x) noexcept {
  constexpr double longest = 1e9 * 86'400 * 365 * 100;
  const double ns = x * 1e9;
  if (!(ns < longest))
    return forever;
  return ns > -longest ? instant{static_cast<std::int64_t>(ns)} : -forever;
}

/// Monotonic time of the machine, for durations that people see.
instant steady_now();

/// Milliseconds since 1970, for what outlives a process; tests may set it off.
std::int64_t unix_milliseconds();

/// CPU time that this process has used, all threads together.
instant process_cpu_time();

/// CPU time that the thread has used that calls this.
instant thread_cpu_time();

} // namespace troupe
