#include "actors/gateway/sessions.hpp"

namespace troupe::actors {

namespace {

constexpr instant shown_every = std::chrono::seconds{1};

/// @param x a session or a question
bool is_copy(const messages::hello& what, const auto& x) {
  return x.client == what.client && x.nonce == what.nonce
         && x.incarnation == what.incarnation;
}

} // namespace

void sessions::ask(peer_id x, const messages::hello& what) {
  asked_[x] = {.client = what.client,
               .nonce = what.nonce,
               .incarnation = what.incarnation};
}

bool sessions::waits(peer_id x, const messages::hello& what) const {
  const auto found = asked_.find(x);
  return found != asked_.end()
         && (found->second.client != what.client
             || is_copy(what, found->second));
}

bool sessions::give_up(peer_id x) {
  const auto found = asked_.find(x);
  if (found != asked_.end())
    found->second.left = true;
  return found != asked_.end();
}

bool sessions::is_gone(const messages::hello_judged& x) {
  const auto found = asked_.find(x.peer);
  if (found == asked_.end() || found->second.nonce != x.what.nonce)
    return false; // Of an earlier one: another judgement follows.
  const bool left = found->second.left;
  asked_.erase(found);
  return left;
}

std::optional<sessions::ended> sessions::open(const messages::hello_judged& x) {
  std::optional<ended> before_it;
  if (const auto old = peer_of(x.what.client); old && *old != x.peer) {
    before_it = ended{*old, by_peer_.at(*old).nonce};
    by_peer_.erase(*old);
  }
  // The peer may have been somebody else before.
  if (const auto* before = of(x.peer);
      before && before->client != x.what.client)
    by_client_.erase(before->client);
  by_peer_[x.peer] = {x.what.client, x.session, x.what.examples, x.what.nonce,
                      x.what.incarnation};
  by_client_[x.what.client] = x.peer;
  return before_it;
}

void sessions::close(client_id x) {
  if (const auto peer = peer_of(x)) {
    by_peer_.erase(*peer);
    by_client_.erase(x);
  }
}

void sessions::turn_out(client_id x) {
  close(x);
  for (auto& [peer, waits] : asked_)
    waits.left |= waits.client == x;
}

bool sessions::shows(peer_id x, instant now) {
  auto& last = by_peer_.at(x).shown;
  if (last && now < *last + shown_every)
    return false;
  last = now;
  return true;
}

const sessions::session* sessions::of(peer_id x) const {
  const auto found = by_peer_.find(x);
  return found == by_peer_.end() ? nullptr : &found->second;
}

const sessions::session*
sessions::opened_by(peer_id x, const messages::hello& what) const {
  const auto* open = of(x);
  return open && is_copy(what, *open) ? open : nullptr;
}

std::optional<peer_id> sessions::peer_of(client_id x) const {
  const auto found = by_client_.find(x);
  if (found == by_client_.end())
    return std::nullopt;
  return found->second;
}

} // namespace troupe::actors
