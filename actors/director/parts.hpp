#pragma once

// What a course keeps of one visit, and of one client.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "actors/messages/records.hpp"
#include "actors/messages/session.hpp"
#include "actors/messages/ticket.hpp"
#include "core/clock.hpp"
#include "core/ids.hpp"
#include "policies/admission.hpp"
#include "policies/selection.hpp"
#include "policies/visit_window.hpp"

namespace troupe::actors {

/// What lines said of the parts of one visit.
using part_verdicts = std::map<line_id, policies::verdict>;

inline bool is_kept(policies::verdict x) {
  return x == policies::verdict::accepted || x == policies::verdict::duplicate;
}

inline bool is_any_kept(const part_verdicts& parts) {
  return std::ranges::any_of(parts,
                             [](const auto& x) { return is_kept(x.second); });
}

/// A part that is refused as `overloaded` comes again.
inline bool is_whole(const part_verdicts& parts, std::size_t lines_total) {
  return parts.size() >= lines_total
         && std::ranges::none_of(parts, [](const auto& x) {
              return x.second == policies::verdict::overloaded;
            });
}

struct open_visit {
  messages::ticket pass;
  instant alarm = instant::max(); ///< Where it stands among `alarms_`.
  part_verdicts parts;
  std::set<line_id> merged = {}; ///< Lines that were faster than the others.
  instant again{};               ///< When to repeat the invitation.
  instant wait{};                ///< Before that.

  static constexpr auto fields(auto& x) {
    return std::tie(x.pass, x.alarm, x.parts, x.merged, x.again, x.wait);
  }
};

/// What each visit looks at comes first.
struct client_entry {
  std::uint64_t number = 0;       ///< The last given.
  std::uint64_t given_before = 0; ///< The last that an earlier life may have.
  visit_number taken_up{};        ///< Of these, by what it said.
  std::uint64_t numbers_saved = 0;
  bool present = false;
  bool has_left = false;             ///< It said so, and is not back.
  bool engaged = true;               ///< As `is_busy` said last.
  bool free = false;                 ///< It is here and was not.
  std::uint32_t failures = 0;        ///< In a row.
  std::vector<open_visit> open = {}; ///< At most one.
  instant not_before{};
  std::size_t place = 0;              ///< Among the candidates, as of late.
  policies::visit_window merged = {}; ///< Its visits, into some line.
  instant in_vain{}; ///< How long it was left alone since nothing came.
  std::uint64_t fruitless_at = 0; ///< As `versions_seen_` was, the last time.
  instant alone{};                ///< And for its failures, the last time.
  messages::client_record record = {}; ///< As stored, or as asked to be.
  /// Kept parts without a verdict, on_accept only.
  std::set<std::pair<visit_id, line_id>> unsettled = {};
  visit_number forgotten = {}; ///< The newest that it was found not to know.
  visit_number remembers = messages::hello::not_said; ///< As it said last.
  policies::candidate known_as = {}; ///< When it was last here.

  static constexpr auto fields(auto& x) {
    return std::tie(x.number, x.given_before, x.taken_up, x.numbers_saved,
                    x.present, x.has_left, x.engaged, x.free, x.failures,
                    x.open, x.not_before, x.place, x.merged, x.in_vain,
                    x.fruitless_at, x.alone, x.record, x.unsettled, x.forgotten,
                    x.remembers, x.known_as);
  }
};

struct offered_visit {
  instant at;
  messages::closed_visit what;

  static constexpr auto fields(auto& x) {
    return std::tie(x.at, x.what);
  }

  friend bool operator<(const offered_visit& a, const offered_visit& b) {
    return std::tie(a.at, a.what.visit) < std::tie(b.at, b.what.visit);
  }
};

} // namespace troupe::actors
