#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "core/clock.hpp"
#include "core/ids.hpp"

namespace troupe::actors {

/// What a peer may cost us. 0: any number, as for peers of this process.
struct peer_limits {
  std::uint64_t frames_per_second = 0;
  std::uint64_t bytes_per_second = 0;
  std::size_t clients_max = 0; ///< That one connection speaks for.
};

/// What peers said lately. Ten seconds' worth may come at once; who says more
/// is not heard until half of that would be free again.
class budget {
public:
  static constexpr std::uint64_t burst_seconds = 10;

  /// Of so many peers at most something is remembered, of the newest ones.
  static constexpr std::size_t peers_max = std::size_t{1} << 20;

  enum class standing : std::uint8_t {
    within,
    exceeded, ///< With this frame.
    muted,    ///< Since an earlier one.
  };

  explicit budget(peer_limits what) : limits_(what) {
    // nop
  }

  standing spend(peer_id peer, std::size_t bytes, instant now);

  /// Whether the peer may speak for one more, or does so already. A client is
  /// spoken for by one peer at a time, the last: who says hello on one channel
  /// after the other is remembered once.
  bool speaks_for(peer_id peer, client_id who);

  static constexpr auto fields(auto& x) {
    return std::tie(x.peers_, x.speakers_);
  }

private:
  struct account {
    double frames = 0; ///< Spent, and not yet won back.
    double bytes = 0;
    instant at{};
    bool muted = false;
    std::set<client_id> clients = {};

    static constexpr auto fields(auto& x) {
      return std::tie(x.frames, x.bytes, x.at, x.muted, x.clients);
    }
  };

  bool is_bounded() const noexcept {
    return limits_.frames_per_second > 0 || limits_.bytes_per_second > 0;
  }

  account& account_of(peer_id x);

  /// The client is another peer's now.
  void loses(peer_id x, client_id who);

  peer_limits limits_;
  std::map<peer_id, account> peers_;
  std::map<client_id, peer_id> speakers_; ///< Where the number is bounded.
};

} // namespace troupe::actors
