#pragma once

// One end of real sockets on loopback, for a thread that waits for what comes.

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "actors/messages/wire.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"
#include "core/clock.hpp"

namespace troupe::transport {

using messages::any_message;

/// However slow this machine is.
constexpr std::chrono::seconds patience{40};

/// Whether it comes to be so in that time.
template <class Seen>
bool comes_to_be(const Seen& seen) {
  const auto end = steady_now() + patience;
  while (!seen()) {
    if (steady_now() > end)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return true;
}

/// What arrived, for a thread that waits for it.
class ear {
public:
  void hear(frame_arrived x) {
    const std::lock_guard guard{mutex_};
    frames_.push_back(std::move(x));
    changed_.notify_all();
  }

  /// The first `n` frames; fewer if they do not come.
  std::vector<frame_arrived> wait_for(std::size_t n) {
    std::unique_lock guard{mutex_};
    changed_.wait_for(guard, patience, [&] { return frames_.size() >= n; });
    return frames_;
  }

  void forget() {
    const std::lock_guard guard{mutex_};
    frames_.clear();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<frame_arrived> frames_;
};

inline socket_endpoint::options options_of(ear& heard, std::string address,
                                           std::uint64_t instance) {
  socket_endpoint::options x;
  x.address = std::move(address);
  x.bytes_max = [](std::uint16_t) { return std::uint64_t{1} << 30; };
  x.instance = instance;
  x.arrived = [&heard](frame_arrived y) { heard.hear(std::move(y)); };
  return x;
}

inline any_message beat(std::uint64_t i) {
  return messages::beat{{i}, {7}};
}

inline any_message opened(const frame_arrived& x) {
  const auto message = x.what.open();
  EXPECT_TRUE(message);
  return **message;
}

inline std::uint64_t client_of(const frame_arrived& x) {
  return std::get<messages::beat>(opened(x)).client.value;
}

} // namespace troupe::transport
