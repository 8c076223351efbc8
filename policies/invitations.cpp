#include "policies/invitations.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/assert.hpp"
#include "core/random.hpp"

namespace troupe::policies {

namespace {

bool is_here(client_id client, std::span<const candidate> candidates) {
  const auto found = std::lower_bound(
    candidates.begin(), candidates.end(), client,
    [](const candidate& x, client_id y) { return x.client < y; });
  return found != candidates.end() && found->client == client;
}

/// Calls `f` with each role's index and how many members come before its own.
template <class F>
void for_each_role(std::span<const role> roles, F f) {
  std::uint64_t before = 0;
  for (std::uint32_t i = 0; i < roles.size(); ++i) {
    f(i, before);
    before += roles[i].members;
  }
}

} // namespace

std::optional<std::uint32_t> role_of(client_id client,
                                     std::span<const role> roles) {
  if (roles.empty())
    return 0;
  std::optional<std::uint32_t> member;
  std::optional<std::uint32_t> other;
  for_each_role(roles, [&](std::uint32_t i, std::uint64_t before) {
    if (client.value > before && client.value <= before + roles[i].members)
      member = i;
    if (roles[i].members == 0 && !other)
      other = i;
  });
  return member ? member : other;
}

std::uint64_t place_in_role(client_id client, std::span<const role> roles) {
  const auto own = role_of(client, roles);
  TROUPE_ASSERT(own.has_value());
  std::uint64_t skipped = 0;
  for_each_role(roles, [&](std::uint32_t i, std::uint64_t before) {
    // The others come after all members.
    if (roles[*own].members == 0)
      skipped = before + roles[i].members;
    else if (i == *own)
      skipped = before;
  });
  return client.value - 1 - skipped;
}

invitations::invitations(invitation_options opts, invitation_state from)
  : options_(std::move(opts)),
    made_(from.invitations),
    window_(from.window),
    open_(std::move(from.open)) {
  TROUPE_ASSERT(options_.window_size > 0);
  for (const auto& x : from.waiting)
    wait(x);
}

invitation_state invitations::state() const {
  invitation_state x{
    .invitations = made_, .window = window_, .waiting = {}, .open = open_};
  std::ranges::copy_if(waiting_, std::back_inserter(x.waiting),
                       [](const place& y) { return y.client != client_id{}; });
  return x;
}

void invitations::wait(const place& x) {
  turn_of_[x.client] = first_turn_ + waiting_.size();
  waiting_.push_back(x);
}

bool invitations::waits(client_id x) const {
  const auto found = turn_of_.find(x);
  return found != turn_of_.end() && found->second != 0;
}

place invitations::take(std::uint64_t turn) {
  auto& own = waiting_[turn - first_turn_];
  const auto result = own;
  own.client = {};
  turn_of_.at(result.client) = 0;
  ++gaps_;
  while (!waiting_.empty() && waiting_.front().client == client_id{}) {
    waiting_.pop_front();
    ++first_turn_;
    --gaps_;
  }
  if (gaps_ > 64 + waiting_.size() / 2)
    close_gaps();
  return result;
}

void invitations::close_gaps() {
  std::deque<place> all;
  std::set<std::uint64_t> maybe_free;
  std::swap(waiting_, all);
  for (auto turn = std::exchange(first_turn_, 1); const auto& x : all) {
    if (x.client != client_id{}) {
      wait(x);
      if (maybe_free_.contains(turn))
        maybe_free.insert(turn_of_.at(x.client));
    }
    ++turn;
  }
  maybe_free_ = std::move(maybe_free);
  gaps_ = 0;
}

void invitations::freed(client_id x) {
  if (waits(x))
    maybe_free_.insert(turn_of_.at(x));
}

std::optional<choice> invitations::next(const test& busy,
                                        std::span<const candidate> candidates) {
  for (const auto& x : waiting_)
    freed(x.client);
  roster_changed();
  const auto free = std::ranges::count_if(
    candidates, [&](const candidate& x) { return !busy(x.client); });
  return next({.busy = busy,
               .here = [=](client_id x) { return is_here(x, candidates); },
               .candidates = candidates,
               .free = static_cast<std::size_t>(free)});
}

std::optional<choice> invitations::next(const view& x) {
  const auto& candidates = x.candidates;
  skips_.clear();
  if (auto found = from_waiting(x))
    return found;
  // Windows enough to name each client once. A selection may still name busy
  // clients only (Oort's, while the best are at work): then one is drawn from
  // the free.
  const auto windows_max =
    (candidates.size() + options_.window_size - 1) / options_.window_size;
  for (std::size_t drawn = 0;; ++drawn) {
    if (auto found = from_open(x))
      return found;
    if (drawn > windows_max || x.free == 0)
      return std::nullopt;
    if (drawn < windows_max) {
      open_window(candidates, true);
      continue;
    }
    std::vector<candidate> others;
    std::ranges::copy_if(
      candidates, std::back_inserter(others),
      [&](const candidate& one) { return !x.busy(one.client); });
    open_window(others, false);
  }
}

// Who left is noticed when its turn comes, not by looking at all of them each
// time.
std::optional<choice> invitations::from_waiting(const view& x) {
  while (!maybe_free_.empty()) {
    const auto turn = *maybe_free_.begin();
    maybe_free_.erase(maybe_free_.begin());
    if (x.busy(waiting_[turn - first_turn_].client))
      continue;
    const auto who = take(turn);
    if (x.here(who.client))
      return invite(who);
  }
  return std::nullopt;
}

std::optional<choice> invitations::from_open(const view& x) {
  for (auto it = open_.begin(); it != open_.end(); ++it) {
    const auto turn = *it;
    if (!x.here(turn.client))
      continue;
    if (!x.busy(turn.client)) {
      open_.erase(open_.begin(), it + 1);
      return invite(turn);
    }
    const bool dropped = waits(turn.client);
    if (!dropped)
      wait(turn);
    skips_.push_back({.of = turn, .dropped = dropped});
  }
  open_.clear();
  return std::nullopt;
}

/// @param all the candidates are all who are here
void invitations::open_window(std::span<const candidate> candidates, bool all) {
  window_ = troupe::next(window_);
  const auto roles = std::max<std::size_t>(options_.roles.size(), 1);
  // A window is small: where all have one role, nobody is copied for it.
  const bool one_role =
    options_.roles.empty() || (roles == 1 && options_.roles[0].members == 0);
  std::vector<std::vector<candidate>> members(roles);
  for (const auto& x : one_role ? std::span<const candidate>{} : candidates)
    if (const auto own = role_of(x.client, options_.roles))
      members[*own].push_back(x);
  const bool by_size =
    one_role && all && std::holds_alternative<by_size_selection>(options_.how);
  if (by_size && !sizes_)
    sizes_.emplace(candidates);
  std::size_t left = options_.window_size;
  const auto seed = derive_seed(options_.seed, "selection");
  for (std::uint32_t i = 0; i < roles; ++i) {
    const bool last = i + 1 == roles;
    const auto count =
      last ? left : std::min<std::size_t>(left, options_.roles[i].quota);
    for (const auto client :
         draw_window(options_.how, derive_seed(seed, "role", i), window_,
                     one_role ? candidates : members[i], count,
                     by_size ? &*sizes_ : nullptr)) {
      open_.push_back({.client = client, .window = window_, .role = i});
      --left;
    }
  }
}

choice invitations::call(client_id x, std::uint32_t role) {
  return invite({.client = x, .window = window_, .role = role});
}

choice invitations::invite(const place& x) {
  const auto index = ++made_;
  return {.client = x.client,
          .index = index,
          .window = x.window,
          .role = x.role,
          .seed = derive_seed(options_.seed, "visit", index)};
}

} // namespace troupe::policies
