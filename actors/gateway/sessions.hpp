#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "actors/messages/internal.hpp"
#include "core/clock.hpp"

namespace troupe::actors {

/// Which peer is which client. A client has one session: a newer one takes its
/// place.
class sessions {
public:
  struct session {
    client_id client;
    session_id id;
    std::uint64_t examples = 0;
    std::uint64_t nonce = 0; ///< Of its hello, as the next.
    std::uint64_t incarnation = 0;
    std::optional<instant> shown = {};

    static constexpr auto fields(auto& x) {
      return std::tie(x.client, x.id, x.examples, x.nonce, x.incarnation);
    }
  };

  /// A session that ended since the client has another.
  struct ended {
    peer_id peer;
    std::uint64_t nonce = 0;
  };

  /// A peer waits for a judgement.
  void ask(peer_id x, const messages::hello& what);

  /// Whether it waits: as another client than that one, or for the answer to
  /// this very hello.
  bool waits(peer_id x, const messages::hello& what) const;

  /// It does not wait for it any more. False: it did not wait.
  bool give_up(peer_id x);

  /// Whether the judgement is of a hello whose peer left before it came.
  bool is_gone(const messages::hello_judged& x);

  /// Opens a session. Says which ended by that, if any.
  std::optional<ended> open(const messages::hello_judged& x);

  /// Ends the client's session, if it has one.
  void close(client_id x);

  /// Likewise, and a hello that waits for a judgement opens none.
  void turn_out(client_id x);

  /// Something came from a peer with a session, which shows that its client is
  /// there. False: that was so within the last second.
  bool shows(peer_id x, instant now);

  /// Null without a session.
  const session* of(peer_id x) const;

  /// The session that this hello has opened, if it is said again.
  const session* opened_by(peer_id x, const messages::hello& what) const;

  std::optional<peer_id> peer_of(client_id x) const;

  const std::map<peer_id, session>& all() const noexcept {
    return by_peer_;
  }

  static constexpr auto fields(auto& x) {
    return std::tie(x.by_peer_, x.by_client_);
  }

private:
  /// The last hello of a peer.
  struct question {
    client_id client;
    std::uint64_t nonce = 0;
    std::uint64_t incarnation = 0;
    bool left = false; ///< The peer said leave after it, or is not to come in.
  };

  std::map<peer_id, question> asked_; ///< Empty when there is no mail.
  std::map<peer_id, session> by_peer_;
  std::map<client_id, peer_id> by_client_;
};

} // namespace troupe::actors
