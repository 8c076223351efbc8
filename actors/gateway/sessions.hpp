#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "actors/messages/internal.hpp"

namespace troupe::actors {

/// Which peer is which client. A client has one session: a newer one takes its
/// place.
class sessions {
public:
  struct session {
    client_id client;
    session_id id;
    std::uint64_t examples = 0;

    static constexpr auto fields(auto& x) {
      return std::tie(x.client, x.id, x.examples);
    }
  };

  /// Opens a session. Returns the peer whose session ended by that, if any.
  std::optional<peer_id> open(const messages::hello_judged& x);

  /// Ends the client's session, if it has one.
  void close(client_id x);

  /// Null without a session.
  const session* of(peer_id x) const;

  std::optional<peer_id> peer_of(client_id x) const;

  const std::map<peer_id, session>& all() const noexcept {
    return by_peer_;
  }

  static constexpr auto fields(auto& x) {
    return std::tie(x.by_peer_, x.by_client_);
  }

private:
  std::map<peer_id, session> by_peer_;
  std::map<client_id, peer_id> by_client_;
};

} // namespace troupe::actors
