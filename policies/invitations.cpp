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
    state_(std::move(from)) {
  TROUPE_ASSERT(options_.window_size > 0);
}

std::optional<choice> invitations::next(const busy_test& busy,
                                        std::span<const candidate> candidates) {
  skips_.clear();
  if (auto found = from_waiting(busy, candidates))
    return found;
  // Windows enough to name each client once. A selection may still name busy
  // clients only (Oort's, while the best are at work): then one is drawn from
  // the free.
  const auto windows_max =
    (candidates.size() + options_.window_size - 1) / options_.window_size;
  const auto is_free = [&](const candidate& x) { return !busy(x.client); };
  for (std::size_t drawn = 0;; ++drawn) {
    if (auto found = from_open(busy, candidates))
      return found;
    if (drawn > windows_max || std::ranges::none_of(candidates, is_free))
      return std::nullopt;
    if (drawn < windows_max) {
      open_window(candidates);
      continue;
    }
    std::vector<candidate> free;
    std::ranges::copy_if(candidates, std::back_inserter(free), is_free);
    open_window(free);
  }
}

// Who left is noticed when its turn comes, not by looking at all of them each
// time.
std::optional<choice>
invitations::from_waiting(const busy_test& busy,
                          std::span<const candidate> candidates) {
  auto& waiting = state_.waiting;
  for (auto at = waiting.begin(); at != waiting.end();) {
    const auto turn = *at;
    if (busy(turn.client)) {
      ++at;
      continue;
    }
    at = waiting.erase(at);
    if (is_here(turn.client, candidates))
      return invite(turn);
  }
  return std::nullopt;
}

std::optional<choice>
invitations::from_open(const busy_test& busy,
                       std::span<const candidate> candidates) {
  auto& [invitations, window, waiting, open] = state_;
  for (auto it = open.begin(); it != open.end(); ++it) {
    const auto turn = *it;
    if (!is_here(turn.client, candidates))
      continue;
    if (!busy(turn.client)) {
      open.erase(open.begin(), it + 1);
      return invite(turn);
    }
    const bool waits =
      std::any_of(waiting.begin(), waiting.end(),
                  [&](const place& x) { return x.client == turn.client; });
    if (!waits)
      waiting.push_back(turn);
    skips_.push_back({.of = turn, .dropped = waits});
  }
  open.clear();
  return std::nullopt;
}

void invitations::open_window(std::span<const candidate> candidates) {
  state_.window = troupe::next(state_.window);
  const auto roles = std::max<std::size_t>(options_.roles.size(), 1);
  // A window is small: where all have one role, nobody is copied for it.
  const bool one_role =
    options_.roles.empty() || (roles == 1 && options_.roles[0].members == 0);
  std::vector<std::vector<candidate>> members(roles);
  for (const auto& x : one_role ? std::span<const candidate>{} : candidates)
    if (const auto own = role_of(x.client, options_.roles))
      members[*own].push_back(x);
  std::size_t left = options_.window_size;
  const auto seed = derive_seed(options_.seed, "selection");
  for (std::uint32_t i = 0; i < roles; ++i) {
    const bool last = i + 1 == roles;
    const auto count =
      last ? left : std::min<std::size_t>(left, options_.roles[i].quota);
    for (const auto client :
         draw_window(options_.how, derive_seed(seed, "role", i), state_.window,
                     one_role ? candidates : members[i], count)) {
      state_.open.push_back(
        {.client = client, .window = state_.window, .role = i});
      --left;
    }
  }
}

choice invitations::invite(const place& x) {
  const auto index = ++state_.invitations;
  return {.client = x.client,
          .index = index,
          .window = x.window,
          .role = x.role,
          .seed = derive_seed(options_.seed, "visit", index)};
}

} // namespace troupe::policies
