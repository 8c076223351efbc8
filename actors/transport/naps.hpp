#pragma once

// How long the thread that has the socket sleeps while something is still to be
// sent. Knows neither sockets nor clocks.

#include <algorithm>
#include <chrono>

#include "core/clock.hpp"

namespace troupe::transport {

/// After it one looks again whether ZeroMQ has room.
inline constexpr std::chrono::milliseconds blocked_pause{2};

/// What is left after all was sent that could be.
struct unsent {
  bool is_blocked = false; ///< ZeroMQ has no room for some of it.
  bool is_due = false;     ///< There is some, blocked or new.
};

/// What is blocked alone is no reason to stay awake.
constexpr bool may_sleep(unsent x) noexcept {
  return x.is_blocked || !x.is_due;
}

/// In a rest of which so much is left, in which nothing is read.
constexpr instant nap_in(instant rest, unsent x) noexcept {
  if (!may_sleep(x))
    return {};
  return x.is_blocked ? std::min<instant>(rest, blocked_pause) : rest;
}

} // namespace troupe::transport
