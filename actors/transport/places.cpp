#include "actors/transport/places.hpp"

#include <algorithm>
#include <utility>

#include "core/limits.hpp"

namespace troupe::transport {

namespace {

constexpr std::size_t own_bytes_free = std::size_t{1} << 20; ///< Of a link.

/// Who is there speaks, or beats every half a minute; that a connection is gone
/// a server hears only when it has something to say there.
constexpr instant silent_max = std::chrono::seconds{90};

/// Who comes back later fetches anew, and begins its uploads again.
constexpr instant gone_max = std::chrono::minutes{1};

/// Who sends something large hears so often how far it has come, although it
/// may go on as it is: over a slow way nothing else tells it that we are at it.
constexpr instant told_every = std::chrono::seconds{1};

/// Less is as good as nothing.
constexpr std::uint64_t moved_bytes_min = std::uint64_t{64} << 10;

} // namespace

result<arrivals> place::hear(const piece& x, instant now) {
  spoke_at = now;
  const bool was_open = link.is_open();
  auto found = link.heard(x);
  if (!was_open && link.is_open()) { // Nobody waited for its room meanwhile.
    moved = 0;
    moved_at = now;
  }
  if (found && x.kind == piece_kind::chunk) {
    moved += x.body.bytes.size();
    if (now >= told_at + told_every)
      link.probe();
  }
  if (moved >= moved_bytes_min) {
    moved = 0;
    moved_at = now;
  }
  return found;
}

std::optional<piece> place::next(instant now) {
  if (unsent)
    return std::exchange(unsent, {});
  const bool had_room = link.holds_room();
  auto out = link.next();
  if (out)
    told_at = now;
  if (!had_room && link.holds_room()) {
    moved = 0;
    moved_at = now;
  }
  return out;
}

place& places::add(std::uint64_t number, const std::string& user) {
  auto& out =
    all_.emplace(number, place{number, link_end{make_(number, room_of(user))}})
      .first->second;
  out.user = user;
  return out;
}

// Within the room of all, a key has its own: it cannot have all of it.
std::shared_ptr<held_bytes> places::room_of(const std::string& user) {
  if (!room_ || user.empty())
    return room_;
  // Now and then: a crowd comes one by one.
  if (rooms_.size() >= 2 * rooms_left_) {
    std::erase_if(rooms_, [](const auto& x) { return x.second.expired(); });
    rooms_left_ = std::max<std::size_t>(rooms_.size(), 1);
  }
  auto& known = rooms_[user];
  auto out = known.lock();
  if (!out) {
    out = std::make_shared<held_bytes>(
      std::min(limits::unhandled_bytes_of_key_max, room_->most() / 4), room_);
    known = out;
  }
  return out;
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
  kept_.erase(to.number);
  to.route = route;
  to.has_parted = false;
  to.unsent.reset();
  routes_[route] = to.number;
  return &to;
}

std::optional<piece> places::next(place& x, instant now) {
  auto out = x.next(now);
  if (!x.link.waits_for_room())
    waiting_.erase(x.number);
  else if (waiting_.insert(x.number).second)
    drop_kept_for(x);
  return out;
}

// Where its key has no more than this, what others have is of no use to it.
bool places::helps(const place& x, const place& waits) const {
  return x.user == waits.user || !room_
         || !room_->has(waits.link.wanted_bytes());
}

// Who waits is told that there is room, as when something was handled.
void places::drop_kept_for(const place& waits) {
  std::erase_if(kept_, [&](std::uint64_t number) {
    auto& x = all_.at(number);
    if (!helps(x, waits))
      return false;
    x.link.drop_unfinished();
    return true;
  });
}

void places::part(place& x, instant now) {
  lost_ += x.link.is_open();
  x.lost_at = now;
  routes_.erase(x.route);
  x.route.clear();
  waiting_.erase(x.number);
  kept_.erase(x.number);
}

void places::lost(place& x, instant now) {
  part(x, now);
  if (std::ranges::any_of(waiting_, [&](std::uint64_t number) {
        return helps(x, all_.at(number));
      }))
    x.link.abandoned();
  else
    x.link.out_of_reach();
  if (x.link.holds_room())
    kept_.insert(x.number);
  forget_gone(now);
}

void places::dismissed(place& x, instant now) {
  part(x, now);
  x.link.abandoned();
  forget_gone(now);
}

void places::forget_gone(instant now) {
  if (now < look_again_)
    return;
  look_again_ = now + std::chrono::seconds{1};
  for (const auto number : waiting_) // There may be less room than before.
    drop_kept_for(all_.at(number));
  std::vector<std::uint64_t> gone;
  for (const auto& [number, y] : all_)
    if (number > 0 && y.route.empty() && y.lost_at + gone_max < now)
      gone.push_back(number);
  for (const auto number : gone)
    forget(number);
}

void places::all_lost(instant now) {
  routes_.clear();
  waiting_.clear();
  for (auto& [number, x] : all_) {
    lost_ += x.link.is_open();
    if (x.link.is_open())
      x.lost_at = now;
    x.route.clear();
    x.link.lost();
    if (x.link.holds_room())
      kept_.insert(number);
  }
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

std::vector<std::uint64_t> places::heard(instant then) const {
  std::vector<std::uint64_t> out;
  for (const auto& [number, x] : all_)
    if (x.heard > 0 && x.spoke_at >= then)
      out.push_back(number);
  return out;
}

places_seen places::look(instant then) const {
  places_seen out;
  for (const auto& [number, x] : all_) {
    out.unsent_bytes += x.link.own_bytes();
    if (!x.link.is_open())
      continue;
    out.connected += !x.has_parted && x.spoke_at + silent_max >= then;
    out.behind += x.busy_since && *x.busy_since < then;
    out.arriving += x.link.holds_room();
    out.waiting += x.link.waits_for_room();
    out.leaving += x.link.sends_large();
  }
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
  std::vector<std::uint64_t> silent;
  for (const auto& [number, x] : all_)
    if (x.link.holds_room() && x.moved_at < then)
      silent.push_back(number);
  for (const auto number : silent)
    if (auto* x = find(number))
      dismissed(*x, then);
}

place& places::with(const std::string& user, std::uint64_t instance) {
  const std::pair who{user, instance};
  if (const auto known = instances_.find(who); known != instances_.end())
    return all_.at(known->second);
  if (!user.empty() && count_of(user) >= limits::links_per_key_max)
    forget_oldest_of(user);
  if (all_.size() >= limits::links_max)
    forget_oldest();
  auto& out = add(++last_, user);
  out.instance = instance;
  instances_[who] = out.number;
  return out;
}

std::size_t places::count_of(const std::string& user) const {
  const auto begin = instances_.lower_bound({user, 0});
  std::size_t out = 0;
  for (auto x = begin; x != instances_.end() && x->first.first == user; ++x)
    ++out;
  return out;
}

void places::forget_oldest_of(const std::string& user) {
  std::optional<std::uint64_t> oldest;
  for (auto x = instances_.lower_bound({user, 0});
       x != instances_.end() && x->first.first == user; ++x)
    if (!oldest || all_.at(x->second).heard < all_.at(*oldest).heard)
      oldest = x->second;
  if (oldest)
    forget(*oldest);
}

void places::forget_oldest() {
  const auto oldest = std::ranges::min_element(
    all_, {}, [](const auto& x) { return x.second.heard; });
  forget(oldest->first);
}

void places::forget(std::uint64_t number) {
  const auto& x = all_.at(number);
  lost_ += x.link.is_open();
  if (!x.route.empty())
    routes_.erase(x.route);
  instances_.erase({x.user, x.instance});
  waiting_.erase(number);
  kept_.erase(number);
  all_.erase(number);
}

} // namespace troupe::transport
