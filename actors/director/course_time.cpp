// What comes due, and who is free when. Nothing here looks at all clients or
// visits: a visit has its place in a heap, and who changes is told.

#include <algorithm>

#include "actors/director/course.hpp"

namespace troupe::actors {

void course::look_at_visits(actions& out, instant now) {
  for (drop_alarms(); !alarms_.empty() && alarms_.front().first <= now;
       drop_alarms()) {
    const auto visit = alarms_.front().second;
    auto& v = *find_open(visit);
    if (v.pass.expires() <= now) {
      if (is_in_last_visits())
        wait_no_more_for(visit.client, out);
      else
        expire(visit, out, now);
    } else if (phase_ == phase::opening) {
      v.again = never; // What is not announced yet has nothing to repeat.
      set_alarm(visit, v);
    } else {
      invite_again(visit, v, now);
      out.push_back(invitation(v.pass));
    }
  }
}

/// Those in front that have no meaning.
void course::drop_alarms() {
  while (!alarms_.empty()) {
    const auto& [at, visit] = alarms_.front();
    if (const auto* v = find_open(visit); v && v->alarm == at)
      return;
    std::ranges::pop_heap(alarms_, std::greater{});
    alarms_.pop_back();
  }
}

void course::invite_again(visit_id x, open_visit& v, instant now) {
  v.wait = std::min(2 * std::max(v.wait, options_.invitation_first),
                    options_.invitation_retry);
  v.again = now + v.wait;
  set_alarm(x, v);
}

void course::set_alarm(visit_id x, open_visit& v) {
  if (const auto next = std::min(v.again, v.pass.expires()); next != v.alarm)
    v.alarm = next;
  else
    return;
  if (alarms_.size() > 2 * open_count_ + 64) { // Most have no meaning.
    std::erase_if(alarms_, [this](const auto& one) {
      const auto* other = find_open(one.second);
      return !other || other->alarm != one.first;
    });
    std::ranges::make_heap(alarms_, std::greater{});
  }
  alarms_.emplace_back(v.alarm, x);
  std::ranges::push_heap(alarms_, std::greater{});
}

// Who can be invited, after all that has happened until now.
void course::reckon(instant now) {
  while (!pauses_.empty() && pauses_.begin()->first <= now) {
    changed_.push_back(pauses_.begin()->second);
    pauses_.erase(pauses_.begin());
  }
  for (const auto client : changed_) {
    auto& entry = clients_.at(client);
    const bool busy = is_busy(entry, now);
    if (std::exchange(entry.engaged, busy) && !busy)
      invitations_.freed(client);
    const bool free = entry.present && !busy;
    free_ += free;
    free_ -= std::exchange(entry.free, free);
    if (free && owed_.contains(client))
      callable_.insert(client);
  }
  changed_.clear();
}

std::optional<instant> course::next_due() const {
  if (finishing_ && !is_in_last_visits())
    return std::nullopt;
  auto least = loose_until_;
  if (!alarms_.empty())
    least = std::min(least, alarms_.front().first);
  if (!pauses_.empty())
    least = std::min(least, pauses_.begin()->first);
  if (phase_ == phase::open && by_round(options_.mode))
    least = std::min(least, deadline_);
  if (phase_ == phase::merging)
    least = std::min(least, strike_at_);
  if (finishing_) {
    if (end_is_saved_ && !late_comers_are_lost_)
      least = std::min(least, last_comers_at());
  } else if (options_.budget.seconds > 0) {
    least = std::min(least, from_seconds(options_.budget.seconds));
  }
  if (least == never)
    return std::nullopt;
  return least;
}

bool course::is_busy(const client_entry& x, instant now) {
  return !x.open.empty() || !x.unsettled.empty() || x.not_before > now
         || x.number >= x.numbers_saved;
}

} // namespace troupe::actors
