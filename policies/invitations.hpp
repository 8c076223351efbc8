#pragma once

// Who is invited next. The i-th invitation is a function of (seed, i, roster,
// busy set, recorded scores), in every pace:
//
//   draw_window ──► open window ──► invitation          (its client is free)
//                        │
//                        └──► waiting ──► invitation    (when it is free again)
//
// A client with an open visit keeps its place and is never in two visits. It
// waits for one place only, so that there are at most as many waiting as there
// are clients.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/by_client.hpp"
#include "core/ids.hpp"
#include "core/recipe.hpp"
#include "policies/selection.hpp"
#include "policies/size_tree.hpp"

namespace troupe::policies {

/// The role of a client, as an index of `roles`. Clients count from 1: those of
/// the first role with `members` come first, then those of the next; a role
/// without is for all others. None if the recipe has no role for the client.
std::optional<std::uint32_t> role_of(client_id client,
                                     std::span<const role> roles);

/// How many clients of its role come before this one: the instance that a role
/// with a fixed choice ties it to. @pre `role_of(client, roles)` is a role
std::uint64_t place_in_role(client_id client, std::span<const role> roles);

/// A place in a window.
struct place {
  client_id client;
  round_number window;
  std::uint32_t role = 0;

  static constexpr auto fields(auto& x) {
    return std::tie(x.client, x.window, x.role);
  }

  friend bool operator==(const place&, const place&) = default;
};

/// An invitation: whom, and all that follows from its number.
struct choice {
  client_id client;
  std::uint64_t index = 0; ///< Counts all invitations of the run, from 1.
  round_number window;     ///< That the place came from.
  std::uint32_t role = 0;
  std::uint64_t seed =
    0; ///< Of the visit: derive_seed(run seed, "visit", index).

  friend bool operator==(const choice&, const choice&) = default;
};

/// A place whose turn came while its client was busy.
struct skip {
  place of;
  bool dropped = false; ///< The client waits already; this place is gone.

  friend bool operator==(const skip&, const skip&) = default;
};

struct invitation_options {
  std::uint64_t seed = 0; ///< Of the run.
  std::uint32_t window_size = 1;
  selection how = uniform_selection{};
  std::vector<role> roles = {}; ///< Empty: all clients have role 0.
};

/// All that is needed to go on later.
struct invitation_state {
  std::uint64_t invitations = 0; ///< Made so far.
  round_number window;           ///< The last one drawn.
  std::vector<place> waiting;    ///< Skipped places, oldest first.
  std::vector<place> open;       ///< What is left of the last window, in order.

  static constexpr auto fields(auto& x) {
    return std::tie(x.invitations, x.window, x.waiting, x.open);
  }

  friend bool operator==(const invitation_state&,
                         const invitation_state&) = default;
};

/// The queue of invitations. A call costs what it looks at: the places of a
/// window, and those who wait and were said to be free.
class invitations {
public:
  using test = std::function<bool(client_id)>;

  /// Who may be invited.
  struct view {
    test busy; ///< It has an open visit.
    test here; ///< Who is not loses its places.
    /// All who are here, busy ones too, sorted by client.
    std::span<const candidate> candidates;
    std::size_t free = 0; ///< So many of them are not busy.
  };

  /// @pre opts.window_size > 0
  explicit invitations(invitation_options opts, invitation_state from = {});

  /// The next invitation. None if no candidate is free (or none whose role has
  /// a quota); nobody loses a place by that.
  /// @pre `freed` was told of each client that ceased to be busy, or left, and
  ///      `roster_changed` of each that came or went
  std::optional<choice> next(const view& x);

  /// This client in this role, beside all windows.
  choice call(client_id x, std::uint32_t role);

  /// The same as `next` without anybody's help: looks at all of them.
  std::optional<choice> next(const test& busy,
                             std::span<const candidate> candidates);

  /// The client may be invited again, or has left.
  void freed(client_id x);

  /// Other clients are here than before, or with other numbers of examples.
  void roster_changed() noexcept {
    sizes_.reset();
  }

  /// What the last call of `next` skipped, in order.
  const std::vector<skip>& skips() const noexcept {
    return skips_;
  }

  /// Invitations so far.
  std::uint64_t made() const noexcept {
    return made_;
  }

  invitation_state state() const;

  static constexpr auto fields(auto& x) {
    return std::tie(x.made_, x.window_, x.open_, x.waiting_, x.first_turn_,
                    x.gaps_, x.turn_of_, x.maybe_free_);
  }

  const invitation_options& options() const noexcept {
    return options_;
  }

private:
  std::optional<choice> from_waiting(const view& x);
  std::optional<choice> from_open(const view& x);
  void wait(const place& x);
  place take(std::uint64_t turn);
  void close_gaps();
  bool waits(client_id x) const;
  void open_window(std::span<const candidate> candidates, bool all);
  choice invite(const place& x);

  invitation_options options_;
  std::uint64_t made_ = 0;
  round_number window_;       ///< The last one drawn.
  std::vector<place> open_;   ///< What is left of it, in order.
  std::deque<place> waiting_; ///< By turn; without a client: a gap.
  std::uint64_t first_turn_ = 1;
  std::size_t gaps_ = 0;
  by_client<std::uint64_t> turn_of_;   ///< 0: it does not wait.
  std::set<std::uint64_t> maybe_free_; ///< Turns whose clients may be free.
  std::optional<size_tree> sizes_;     ///< Of the candidates, where needed.
  std::vector<skip> skips_;
};

} // namespace troupe::policies
