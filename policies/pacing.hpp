#pragma once

// When a round closes, when a free slot is filled, how far a run is and when it
// is over: decisions on plain data. Whoever asks brings the time as an
// argument.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/recipe.hpp"

namespace troupe::policies {

// Rounds.

/// How many clients a round invites so that `clients_per_round` come through:
/// `over_selection` is a factor (1.3 invites 30 % more), rounded up. Up to 1 it
/// asks for nobody more.
inline std::uint32_t cohort_size(std::uint32_t clients_per_round,
                                 double over_selection) noexcept {
  const auto wished = clients_per_round * std::max(1.0, over_selection);
  // 1.1 is a little more than eleven tenths: 100 clients must not become 111.
  return static_cast<std::uint32_t>(std::ceil(wished - 1e-9));
}

struct round_limits {
  std::uint32_t clients_per_round =
    1;                      ///< The design's n: so many offers close it.
  std::uint32_t quorum = 0; ///< So many suffice at the deadline; 0: all n.
};

struct round_facts {
  /// Visits that offered to all their lines, or ended well with nothing to
  /// offer.
  std::uint32_t complete = 0;
  std::uint32_t still_open = 0; ///< Visits that may still come.
  bool deadline_passed = false;
};

enum class round_decision : std::uint8_t { wait, close, give_up };

/// A round closes at n offers. At the deadline, or when nobody is left to wait
/// for, it closes with a quorum; without one it is given up, also before the
/// deadline if too few are left to reach it. A round without an offer never
/// closes.
constexpr round_decision decide(const round_limits& limits,
                                const round_facts& facts) noexcept {
  const auto n = std::max(limits.clients_per_round, 1u);
  const auto quorum = limits.quorum == 0 ? n : std::min(limits.quorum, n);
  if (facts.complete >= n)
    return round_decision::close;
  if (facts.deadline_passed || facts.still_open == 0)
    return facts.complete >= quorum ? round_decision::close
                                    : round_decision::give_up;
  return facts.complete + facts.still_open >= quorum ? round_decision::wait
                                                     : round_decision::give_up;
}

static_assert(decide({.clients_per_round = 3}, {.complete = 3})
              == round_decision::close);
static_assert(decide({.clients_per_round = 3}, {.complete = 2, .still_open = 1})
              == round_decision::wait);
static_assert(decide({.clients_per_round = 3},
                     {.complete = 2, .still_open = 1, .deadline_passed = true})
              == round_decision::give_up);
static_assert(decide({.clients_per_round = 3, .quorum = 2},
                     {.complete = 2, .still_open = 1, .deadline_passed = true})
              == round_decision::close);
static_assert(decide({.clients_per_round = 3, .quorum = 2},
                     {.complete = 2, .still_open = 1})
              == round_decision::wait);
static_assert(decide({.clients_per_round = 3, .quorum = 2}, {.complete = 2})
              == round_decision::close);
static_assert(decide({.clients_per_round = 3, .quorum = 2},
                     {.complete = 0, .still_open = 1})
              == round_decision::give_up);
static_assert(decide({.clients_per_round = 3, .quorum = 9},
                     {.complete = 3, .deadline_passed = true})
              == round_decision::close);
static_assert(decide({.clients_per_round = 0}, {.deadline_passed = true})
              == round_decision::give_up);

// Merges and slots.

/// How many offers a line merges at once; none where a round or a window
/// decides.
constexpr std::optional<std::size_t>
batch_size(pace_kind pace, std::size_t buffer_size) noexcept {
  switch (pace) {
    case pace_kind::fedasync:
      return 1;
    case pace_kind::fedbuff:
      return buffer_size;
    case pace_kind::sync:
    case pace_kind::semisync:
      break;
  }
  return std::nullopt;
}

static_assert(batch_size(pace_kind::fedasync, 8) == 1u);
static_assert(batch_size(pace_kind::fedbuff, 8) == 8u);
static_assert(!batch_size(pace_kind::semisync, 8));

/// When a slot is free again.
enum class refill_kind : std::uint8_t {
  offer,   ///< As soon as the visit in it has offered.
  version, ///< When the version that its offer waits for is made.
};

struct slot_facts {
  std::uint32_t concurrency = 1;
  std::uint32_t open = 0;     ///< Visits under way.
  std::uint32_t unmerged = 0; ///< Visits that offered, and wait for a version.
};

/// How many visits may be begun now.
constexpr std::uint32_t free_slots(refill_kind refill,
                                   const slot_facts& x) noexcept {
  const auto taken = x.open + (refill == refill_kind::version ? x.unmerged : 0);
  return x.concurrency > taken ? x.concurrency - taken : 0;
}

static_assert(free_slots(refill_kind::offer,
                         {.concurrency = 4, .open = 1, .unmerged = 2})
              == 3);
static_assert(free_slots(refill_kind::version,
                         {.concurrency = 4, .open = 1, .unmerged = 2})
              == 1);
static_assert(free_slots(refill_kind::version,
                         {.concurrency = 4, .open = 2, .unmerged = 4})
              == 0);

// The length of a run.

/// How long a run is; what is reached first ends it. Zero is no limit.
struct budget {
  std::uint64_t rounds = 0;
  std::uint64_t versions = 0; ///< Of the lead line.
  std::uint64_t updates = 0;  ///< Offers of which a part was merged.
  double seconds = 0;         ///< Of the run's clock.
};

/// What a run has used up.
struct spent_budget {
  std::uint64_t rounds = 0;
  std::uint64_t versions = 0;
  std::uint64_t updates = 0;
  double seconds = 0;
};

/// The share of the budget that is spent, in [0, 1]; 0 for a run without an
/// end.
constexpr double progress(const budget& of,
                          const spent_budget& spent) noexcept {
  double share = 0;
  const auto consider = [&](double limit, double used) {
    if (limit > 0)
      share = std::max(share, used / limit);
  };
  consider(static_cast<double>(of.rounds), static_cast<double>(spent.rounds));
  consider(static_cast<double>(of.versions),
           static_cast<double>(spent.versions));
  consider(static_cast<double>(of.updates), static_cast<double>(spent.updates));
  consider(of.seconds, spent.seconds);
  return std::min(share, 1.0);
}

constexpr bool exhausted(const budget& of, const spent_budget& spent) noexcept {
  return progress(of, spent) >= 1;
}

static_assert(progress({}, {.rounds = 7}) == 0
              && !exhausted({}, {.rounds = 7}));
static_assert(progress({.rounds = 8}, {.rounds = 2}) == 0.25);
static_assert(progress({.rounds = 8, .seconds = 4}, {.rounds = 2, .seconds = 3})
              == 0.75);
static_assert(exhausted({.updates = 10}, {.updates = 12})
              && progress({.updates = 10}, {.updates = 12}) == 1);
static_assert(!exhausted({.versions = 3}, {.versions = 2}));

// Stopping early.

enum class goal : std::uint8_t { highest, lowest }; ///< Of accuracy; of loss.

struct stop_rule {
  goal better = goal::highest;
  std::optional<double> target = {};
  std::uint32_t patience =
    0; ///< Observations without a better one; 0: no limit.
  double improvement_min = 0; ///< A smaller gain does not count as better.
};

enum class stop_reason : std::uint8_t { none, target, patience };

struct stopper_state {
  std::optional<double> best = {};
  std::uint32_t since_best = 0; ///< Observations after the best.

  static constexpr auto fields(auto& x) {
    return std::tie(x.best, x.since_best);
  }
};

/// Follows one metric on validation data.
class stopper {
public:
  struct answer {
    bool best = false; ///< This observation is the best so far.
    stop_reason stop = stop_reason::none;
  };

  explicit constexpr stopper(stop_rule rule = {},
                             stopper_state from = {}) noexcept
    : rule_(std::move(rule)),
      state_(std::move(from)) {
    // nop
  }

  /// A value that is no number counts as one that is not better.
  constexpr answer observe(double value) noexcept {
    const bool best = is_better(value);
    if (best)
      state_ = {.best = value, .since_best = 0};
    else
      ++state_.since_best;
    return {.best = best, .stop = judge(value)};
  }

  static constexpr auto fields(auto& x) {
    return std::tie(x.state_);
  }

  constexpr const stopper_state& state() const noexcept {
    return state_;
  }

private:
  constexpr double gain(double value, double over) const noexcept {
    return rule_.better == goal::highest ? value - over : over - value;
  }

  constexpr bool is_better(double value) const noexcept {
    // Comparisons with a value that is no number are false.
    if (!state_.best)
      return value == value;
    const auto x = gain(value, *state_.best);
    return x > 0 && x >= rule_.improvement_min;
  }

  constexpr stop_reason judge(double value) const noexcept {
    if (rule_.target && gain(value, *rule_.target) >= 0)
      return stop_reason::target;
    if (rule_.patience > 0 && state_.since_best >= rule_.patience)
      return stop_reason::patience;
    return stop_reason::none;
  }

  stop_rule rule_;
  stopper_state state_;
};

} // namespace troupe::policies
