#pragma once

#include <cstddef>
#include <cstdint>

#include "policies/visit_window.hpp"

namespace troupe::policies {

/// The answer to an offer. A refusal is an answer, not an error.
enum class verdict : std::uint8_t {
  accepted,   ///< Merged, and the version that holds it is durable.
  duplicate,  ///< It was accepted before.
  too_stale,  ///< Its base is too far behind, or the visit is closed.
  overloaded, ///< Not now: the only refusal after which a resend makes sense.
  malformed,  ///< Not finite, out of range, or not of this block's size.
  unknown_expert, ///< No such block, or no longer.
  not_invited,    ///< The server did not give this number to this client.
  withdrawn,      ///< The round or the group that it belongs to was given up.
};

inline constexpr std::size_t verdict_count = 8;

/// Says whether a byte from the network is a verdict.
constexpr bool known(verdict x) noexcept {
  return static_cast<std::size_t>(x) < verdict_count;
}

constexpr const char* to_string(verdict x) noexcept {
  constexpr const char* names[verdict_count]{
    "accepted",  "duplicate",      "too_stale",   "overloaded",
    "malformed", "unknown_expert", "not_invited", "withdrawn"};
  return names[static_cast<std::size_t>(x)];
}

struct admission_limits {
  std::uint64_t staleness_max = 16;
  std::size_t pending_max = 1024;
};

/// All that the decision depends on, so that a test states a case in one line.
struct admission_facts {
  visit_window::state visit = visit_window::state::open;
  std::uint64_t versions_behind = 0;
  std::size_t pending = 0;
};

/// Checks run from the most to the least permanent reason: who hears
/// `overloaded` may try again, who hears `duplicate` must not.
constexpr verdict admit(const admission_limits& limits,
                        const admission_facts& facts) noexcept {
  if (facts.visit == visit_window::state::merged)
    return verdict::duplicate;
  // A stale offer is refused rather than down-weighted to almost nothing: the
  // client learns the head and saves the upload next time.
  if (facts.visit == visit_window::state::closed
      || facts.versions_behind > limits.staleness_max)
    return verdict::too_stale;
  if (facts.pending >= limits.pending_max)
    return verdict::overloaded;
  return verdict::accepted;
}

// A decision table is a test that the compiler runs.
static_assert(admit({}, {}) == verdict::accepted);
static_assert(admit({}, {.visit = visit_window::state::merged,
                         .versions_behind = 99,
                         .pending = 9999})
              == verdict::duplicate);
static_assert(admit({}, {.visit = visit_window::state::closed, .pending = 9999})
              == verdict::too_stale);
static_assert(admit({.staleness_max = 2, .pending_max = 1},
                    {.versions_behind = 3, .pending = 1})
              == verdict::too_stale);
static_assert(admit({.staleness_max = 2, .pending_max = 1},
                    {.versions_behind = 2, .pending = 1})
              == verdict::overloaded);
static_assert(admit({.staleness_max = 2, .pending_max = 1},
                    {.versions_behind = 2})
              == verdict::accepted);

} // namespace troupe::policies
