#pragma once

// A server with keys and those that dial it, over real sockets on loopback.

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sodium.h>

#include "actors/transport/zmq/socket_endpoint.hpp"
#include "tests/support/ear.hpp"

namespace troupe::transport {

/// A server that knows some keys, and those that dial it.
class keyed_endpoint : public ::testing::Test {
protected:
  static key_pair pair(std::uint8_t first) {
    key_pair out;
    out.secret.fill(first);
    crypto_scalarmult_base(out.open.data(), out.secret.data());
    return out;
  }

  std::shared_ptr<socket_endpoint>
  serve(std::uint64_t frames_per_second = limits::frames_per_second_max) {
    auto x = options_of(at_server, "tcp://127.0.0.1:*", 1);
    x.frames_per_second = frames_per_second;
    x.refused = refused;
    const auto still = [this](const public_key& who) {
      const std::lock_guard guard{mutex};
      const auto found = known.find(who);
      return found == known.end() ? key_standing::unknown : found->second;
    };
    x.door = server_keys{own,
                         [this, still](const public_key& who) {
                           ++read;
                           return still(who);
                         },
                         still};
    auto made = socket_endpoint::listen(std::move(x));
    EXPECT_TRUE(made);
    return *made;
  }

  std::shared_ptr<socket_endpoint> dial_with(std::uint64_t instance,
                                             const std::string& address,
                                             std::optional<dialler_keys> keys) {
    auto x = options_of(at_client, address, instance);
    x.keys = keys;
    x.announced = [this](const announcement& y) {
      const std::lock_guard guard{mutex};
      heard_of = y.next;
    };
    x.away = [this](turned_away why) {
      const std::lock_guard guard{mutex};
      away.push_back(why);
      changed.notify_all();
    };
    auto made = socket_endpoint::dial(std::move(x));
    EXPECT_TRUE(made);
    return *made;
  }

  void set(const key_pair& x, key_standing standing) {
    const std::lock_guard guard{mutex};
    known[x.open] = standing;
  }

  std::optional<turned_away> first_refusal() {
    std::unique_lock guard{mutex};
    changed.wait_for(guard, patience, [&] { return !away.empty(); });
    return away.empty() ? std::nullopt : std::optional{away.front()};
  }

  std::uint64_t refused_for(refusal why) const {
    return refused->all()[static_cast<std::size_t>(why)];
  }

  /// The same, once they are so many.
  std::uint64_t refused_for(refusal why, std::uint64_t at_least) const {
    (void)comes_to_be([&] { return refused_for(why) >= at_least; });
    return refused_for(why);
  }

  const key_pair own = pair(1);
  const key_pair alice = pair(2);
  const key_pair bob = pair(3);
  const std::shared_ptr<refusals> refused = std::make_shared<refusals>();
  ear at_server;
  ear at_client;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<public_key, key_standing> known;
  std::atomic<int> read{0}; ///< Files of keys, as it were.
  std::vector<turned_away> away;
  public_key heard_of{}; ///< Under the lock.
};

} // namespace troupe::transport
