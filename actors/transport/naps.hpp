#pragma once

// How long the thread that has the socket sleeps while something is still to be
// sent. Knows neither sockets nor clocks.

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "core/clock.hpp"

namespace troupe::transport {

/// After it one looks again whether ZeroMQ has room.
inline constexpr std::chrono::milliseconds blocked_pause{2};

/// What is left after each link has had its turn, in links.
struct unsent {
  std::size_t blocked = 0; ///< ZeroMQ has no room for what they have.
  std::size_t due = 0;     ///< They have some, these among them.
};

/// What is blocked alone is no reason to stay awake.
constexpr bool may_sleep(unsent x) noexcept {
  return x.due <= x.blocked;
}

/// In a rest of which so much is left, in which nothing is read.
constexpr instant nap_in(instant rest, unsent x) noexcept {
  if (!may_sleep(x))
    return {};
  return x.blocked > 0 ? std::min<instant>(rest, blocked_pause) : rest;
}

} // namespace troupe::transport
