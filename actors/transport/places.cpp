#include "actors/transport/places.hpp"

#include <algorithm>

#include "core/limits.hpp"

namespace troupe::transport {

namespace {

constexpr std::size_t own_bytes_free = std::size_t{1} << 20; ///< Of a link.

} // namespace

place& places::add(std::uint64_t number) {
  return all_.emplace(number, place{number, link_end{make_(number)}})
    .first->second;
}

place* places::find(std::uint64_t number) {
  const auto found = all_.find(number);
  return found == all_.end() ? nullptr : &found->second;
}

place* places::of(const std::string& route, const std::string& user,
                  const piece& x) {
  const auto known = routes_.find(route);
  auto* same = known == routes_.end() ? nullptr : find(known->second);
  if (x.kind != piece_kind::opened)
    return same;
  const auto what = decode_record<opening>(x.body.bytes);
  if (!what)
    return nullptr;
  if (same)
    return same->link.other() == what->instance ? same : nullptr;
  auto& to = with(user, what->instance);
  if (to.link.knows_newer_than(x))
    return nullptr;
  routes_.erase(to.route);
  to.route = route;
  to.unsent.reset();
  routes_[route] = to.number;
  return &to;
}

void places::lost(place& x, instant now) {
  x.lost_at = now;
  routes_.erase(x.route);
  x.route.clear();
  x.link.abandoned();
}

bool places::is_idle() const {
  return std::ranges::all_of(all_, [](const auto& x) {
    return !x.second.link.is_open()
           || (x.second.link.is_idle() && !x.second.unsent);
  });
}

std::vector<std::uint64_t> places::here(instant then) const {
  std::vector<std::uint64_t> out;
  for (const auto& [number, x] : all_)
    if (x.link.is_open() || x.lost_at > then)
      out.push_back(number);
  return out;
}

bool places::is_greedy(const place& x) const {
  if (x.link.own_bytes() < own_bytes_free)
    return false;
  std::size_t all = 0;
  for (const auto& [number, y] : all_)
    all += y.link.own_bytes();
  return all > limits::unsent_bytes_max;
}

void places::forget_silent_holders(instant then) {
  for (auto& [number, x] : all_)
    if (x.link.holds_room() && x.spoke_at < then)
      lost(x, then);
}

place& places::with(const std::string& user, std::uint64_t instance) {
  const std::pair who{user, instance};
  if (const auto known = instances_.find(who); known != instances_.end())
    return all_.at(known->second);
  if (all_.size() >= limits::links_max)
    forget_oldest();
  auto& out = add(++last_);
  out.user = user;
  instances_[who] = out.number;
  return out;
}

void places::forget_oldest() {
  const auto oldest = std::ranges::min_element(
    all_, {}, [](const auto& x) { return x.second.heard; });
  const auto number = oldest->first;
  routes_.erase(oldest->second.route);
  std::erase_if(instances_, [=](const auto& x) { return x.second == number; });
  all_.erase(oldest);
}

} // namespace troupe::transport
