#include "actors/gateway/sessions.hpp"

namespace troupe::actors {

std::optional<peer_id> sessions::open(const messages::hello_judged& x) {
  std::optional<peer_id> ended;
  if (const auto old = peer_of(x.what.client); old && *old != x.peer) {
    by_peer_.erase(*old);
    ended = old;
  }
  // The peer may have been somebody else before.
  if (const auto* before = of(x.peer);
      before && before->client != x.what.client)
    by_client_.erase(before->client);
  by_peer_[x.peer] = {x.what.client, x.session, x.what.examples};
  by_client_[x.what.client] = x.peer;
  return ended;
}

void sessions::close(client_id x) {
  if (const auto peer = peer_of(x)) {
    by_peer_.erase(*peer);
    by_client_.erase(x);
  }
}

const sessions::session* sessions::of(peer_id x) const {
  const auto found = by_peer_.find(x);
  return found == by_peer_.end() ? nullptr : &found->second;
}

std::optional<peer_id> sessions::peer_of(client_id x) const {
  const auto found = by_client_.find(x);
  if (found == by_client_.end())
    return std::nullopt;
  return found->second;
}

} // namespace troupe::actors
