#include "actors/gateway/budget.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

double won_back(double spent, std::uint64_t per_second, instant over) {
  return std::max(0.0, spent - static_cast<double>(per_second) * seconds(over));
}

/// How much of what may come at once was spent; 0 where there is no bound.
double share(double spent, std::uint64_t per_second) {
  return per_second == 0
           ? 0
           : spent / static_cast<double>(budget::burst_seconds * per_second);
}

} // namespace

budget::standing budget::spend(peer_id peer, std::size_t bytes, instant now) {
  if (!is_bounded())
    return standing::within;
  auto& own = account_of(peer);
  own.frames = won_back(own.frames, limits_.frames_per_second, now - own.at);
  own.bytes = won_back(own.bytes, limits_.bytes_per_second, now - own.at);
  own.at = now;
  const auto spent = [&] {
    return std::max(share(own.frames, limits_.frames_per_second),
                    share(own.bytes, limits_.bytes_per_second));
  };
  if (own.muted && spent() > 0.5)
    return standing::muted;
  own.frames += 1;
  own.bytes += static_cast<double>(bytes);
  own.muted = spent() > 1;
  return own.muted ? standing::exceeded : standing::within;
}

bool budget::speaks_for(peer_id peer, client_id who) {
  if (limits_.clients_max == 0)
    return true;
  auto& clients = account_of(peer).clients;
  if (clients.contains(who))
    return true;
  if (clients.size() >= limits_.clients_max)
    return false;
  clients.insert(who);
  if (const auto before = speakers_.find(who); before != speakers_.end())
    loses(before->second, who);
  speakers_[who] = peer;
  return true;
}

// What it said lately is known for as long as that counts.
void budget::loses(peer_id x, client_id who) {
  const auto found = peers_.find(x);
  if (found == peers_.end())
    return;
  found->second.clients.erase(who);
  if (found->second.clients.empty() && !is_bounded())
    peers_.erase(found);
}

// The oldest peers have the lowest ids.
budget::account& budget::account_of(peer_id x) {
  if (peers_.size() >= peers_max && !peers_.contains(x))
    peers_.erase(peers_.begin());
  return peers_[x];
}

} // namespace troupe::actors
