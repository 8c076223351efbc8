// What can be seen of a course from outside, and what is only counted.

#include <algorithm>
#include <iterator>

#include "actors/director/course.hpp"

namespace troupe::actors {

// It may say hello more than once before it remembers a visit again.
bool course::begins_anew(const messages::client_joined& x) {
  auto& entry = clients_[x.client];
  const auto known = std::max(entry.merged.highest(), newest_listed(x.client));
  if (x.last >= known || entry.forgotten >= known)
    return false;
  entry.forgotten = known;
  ++anew_;
  return true;
}

/// What is on a list was offered.
visit_number course::newest_listed(client_id of) const {
  const auto next =
    std::ranges::upper_bound(round_.visits, visit_id{of, {~std::uint64_t{0}}},
                             {}, &messages::closed_visit::visit);
  if (next == round_.visits.begin() || std::prev(next)->visit.client != of)
    return {};
  return std::prev(next)->visit.number;
}

/// Clients that are here and have a visit. A round that a restart found waits
/// for its cohort, which has not come back yet.
std::uint64_t course::at_work() const {
  const auto is_awaited = [this](const messages::ticket& pass) {
    const auto found = clients_.find(pass.visit.client);
    if (found == clients_.end() || found->second.present)
      return false;
    const auto& open = found->second.open;
    return !open.empty() && open.front().pass.visit == pass.visit
           && !lost_.contains(pass.visit);
  };
  return awaited()
         - static_cast<std::uint64_t>(
           std::ranges::count_if(round_.cohort, is_awaited));
}

course_status course::status(instant now) const {
  using step = course_status::phase;
  const auto standing = [this] {
    if (finishing_)
      return step::ending;
    if (!started_)
      return step::gathering;
    if (!by_round(options_.mode))
      return step::open;
    constexpr step by_phase[]{step::between, step::opening, step::open,
                              step::closing, step::merging};
    return by_phase[static_cast<std::size_t>(phase_)];
  };
  const bool sync = options_.mode == pace_kind::sync;
  // Of a round that is open, no more than were invited.
  const auto wanted = !sync ? 0
                      : phase_ == phase::idle
                        ? options_.clients_per_round
                        : std::min<std::uint64_t>(options_.clients_per_round,
                                                  round_.cohort.size());
  course_status x{.now = now,
                  .mode = options_.mode,
                  .at = standing(),
                  .saving = saving_.has_value(),
                  .round = by_round(options_.mode) ? round_.round.value : 0,
                  .complete = complete(),
                  .wanted = wanted,
                  .quorum = options_.quorum,
                  .expected = options_.clients_expected,
                  .known = clients_.size(),
                  .here = candidates_.size(),
                  .free = free_,
                  .at_work = at_work(),
                  .visits_open = open_count_,
                  .visits_lost = lost_.size(),
                  .bytes_held = bytes_held(),
                  .bytes_max = options_.bytes_max,
                  .full =
                    !sync && awaited() < options_.concurrency && !has_room(),
                  .stale_in_a_row = stale_,
                  .empty_in_a_row = empty_,
                  .given_up_in_a_row = given_up_,
                  .joins = joins_,
                  .anew = anew_,
                  .leaves = leaves_,
                  .losses = losses_,
                  .failed = failed_ever_,
                  .alone = left_alone(now),
                  .owed = owed_.size(),
                  .progress = policies::progress(options_.budget, spent(now))};
  // Nobody sets a deadline that is never.
  if (by_round(options_.mode) && phase_ == phase::open
      && deadline_ < now + std::chrono::hours{24 * 365})
    x.deadline = deadline_;
  return x;
}

} // namespace troupe::actors
