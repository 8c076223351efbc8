// How a run comes to its end. Last visits: when all that was planned is done,
// and no line makes a version any more, each client that has a part in one
// comes once more and offers nothing. Who is away is waited for for a while.

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "actors/director/course.hpp"

namespace troupe::actors {

namespace {

using messages::course_end;

/// Who is away may come back so long after the others are there.
constexpr instant away_least = std::chrono::minutes{1};

/// A device that broke and says nothing would be waited for for ever.
constexpr instant last_visit_most = std::chrono::hours{24};

/// A client whose last visit comes to nothing so often has none.
constexpr std::uint32_t tries_max = 8;

std::string end_text(course_end x) {
  switch (x) {
    case course_end::target:
      return "the target is reached";
    case course_end::patience:
      return "no better version within the patience";
    case course_end::length:
    case course_end::none:
      break;
  }
  return "the run's length is reached";
}

} // namespace

course::actions course::end(course_end why, instant now) {
  if (finishing_)
    return {};
  if (options_.last_role)
    end_ = why;
  return finish({.reason = end_text(why), .end = why}, now);
}

/// What an earlier process had come to, or what is so now; nothing: it goes on.
course::actions course::end_if_due(instant now) {
  if (finishing_)
    return {};
  if (end_ != course_end::none)
    return end(end_, now);
  auto why = reason_to_end(now);
  if (!why)
    return {};
  // What is no failure is that all was done.
  return why->failed ? finish(std::move(*why), now)
                     : end(course_end::length, now);
}

course::actions course::finish(messages::run_finished why, instant now) {
  actions out;
  if (finishing_) {
    if (end_ == course_end::none || told_)
      return out;
    // Who goes on with it, in another process, goes on with these.
    finishing_ = std::move(why);
    drop_last_visits(out);
    carry_on(out, now);
    return out;
  }
  finishing_ = std::move(why);
  for (auto& [client, entry] : clients_) {
    for (const auto& v : entry.open)
      if (!is_any_kept(v.parts)) // Else its lines answer, as they end.
        out.push_back(messages::visit_withdrawn{v.pass.visit});
    entry.open.clear();
  }
  open_count_ = 0;
  lost_.clear();
  loose_.clear();
  alarms_.clear();
  out.push_back(messages::line_closing{});
  carry_on(out, now);
  return out;
}

// A stop is no end of what was planned, and an error is none at all.
void course::drop_last_visits(actions& out) {
  for (const auto client : std::exchange(owed_, {}))
    wait_no_more_for(client, out);
  callable_.clear();
  end_ = course_end::none;
}

bool course::is_in_last_visits() const {
  return last_visits_began_ && !told_;
}

bool course::is_owed(client_id x) const {
  return clients_.at(x).merged.highest() > visit_number{}
         && !had_last_.contains(x);
}

void course::begin_last_visits(instant now) {
  last_visits_began_ = now;
  phase_ = phase::idle;
  round_is_dirty_ = false; // What it says nobody will do any more.
  for (const auto client : std::exchange(unsettled_, {})) {
    clients_.at(client).unsettled.clear();
    changed_.push_back(client);
  }
  for (auto& [client, entry] : clients_) {
    if (!is_owed(client) || entry.has_left)
      continue;
    owed_.insert(client);
    callable_.insert(client);
    entry.not_before = {}; // It is not asked once more and once more.
    changed_.push_back(client);
  }
}

bool course::last_visits_are_over(actions& out, instant now) {
  if (end_ == course_end::none)
    return true;
  if (!last_visits_began_)
    begin_last_visits(now);
  if (!end_is_saved_ && !owed_.empty())
    return false; // `save` sees to it.
  if (!late_comers_are_lost_ && now >= last_comers_at()) {
    late_comers_are_lost_ = true;
    for (const auto client : std::set{owed_})
      if (!clients_.at(client).present)
        wait_no_more_for(client, out);
  }
  invite_last(out, now);
  return owed_.empty() && unsaved_last_.empty() && !saving_;
}

// Where nobody has come, clients may take longer to start than their server.
instant course::last_comers_at() const {
  return first_came_ == never ? never
                              : std::max(*last_visits_began_, first_came_)
                                  + std::max(options_.silence_max, away_least);
}

instant course::time_for_visit() const {
  return finishing_ ? std::min(options_.visit_timeout, last_visit_most)
                    : options_.visit_timeout;
}

void course::invite_last(actions& out, instant now) {
  const auto together = options_.mode == pace_kind::sync
                          ? policies::cohort_size(options_.clients_per_round,
                                                  options_.over_selection)
                          : options_.concurrency;
  reckon(now);
  while (!callable_.empty() && awaited() < together) {
    const auto client = *callable_.begin();
    const auto& entry = clients_.at(client);
    const bool can_come = entry.present && !is_busy(entry, now);
    if (can_come && !has_index())
      return;
    callable_.erase(client); // It is there again when it is free.
    if (!can_come)
      continue;
    const auto pass =
      ticket_of(invitations_.call(client, *options_.last_role), now);
    open_visit_of(pass, now);
    out.push_back(invitation(pass));
  }
}

/// Its client came to the end of its last visit before it heard that nobody
/// waits for it any more.
bool course::is_done_since(const messages::visit_failed& x) const {
  const auto* why = std::get_if<messages::decline_reason>(&x.why);
  const auto client = x.visit.client;
  return why && *why == messages::decline_reason::no_offer
         && owed_.contains(client) && tries_.contains(client)
         && clients_.at(client).open.empty()
         && clients_.at(client).number == x.visit.number.value;
}

void course::last_visit_ended(const messages::visit_failed& x, actions& out,
                              instant now) {
  using messages::decline_reason;
  const auto client = x.visit.client;
  const auto* verdict = std::get_if<policies::verdict>(&x.why);
  if (verdict && *verdict == policies::verdict::not_invited)
    out.push_back(messages::visit_withdrawn{x.visit});
  close_visit(x.visit);
  const auto* why = std::get_if<decline_reason>(&x.why);
  if (why && *why == decline_reason::no_offer) {
    owed_.erase(client);
    callable_.erase(client);
    had_last_.insert(client);
    unsaved_last_.push_back(x.visit);
    return;
  }
  if (const auto tries = ++tries_[client]; tries < tries_max)
    pause(client, now
                    + std::min(options_.alone_first,
                               options_.decline_pause * (1 << (tries - 1))));
  else
    owed_.erase(client);
}

/// Its ticket has run out, it has left, or is away for too long.
void course::wait_no_more_for(client_id x, actions& out) {
  owed_.erase(x);
  callable_.erase(x);
  const auto& open = clients_.at(x).open;
  if (open.empty())
    return;
  const auto visit = open.front().pass.visit;
  out.push_back(messages::visit_withdrawn{visit});
  close_visit(visit);
}

std::uint64_t course::rounds_counted() const noexcept {
  return by_round(options_.mode) || options_.batch == 0
           ? rounds_ - barren_
           : done_ever_ / options_.batch;
}

// Of all who have a part in a version.
std::string course::without_last_visit() const {
  if (!last_visits_began_)
    return {};
  const auto count = std::ranges::count_if(
    clients_, [this](const auto& x) { return is_owed(x.first); });
  if (count == 0)
    return {};
  return "; " + std::to_string(count)
         + (count == 1 ? " client had no last visit"
                       : " clients had no last visit");
}

} // namespace troupe::actors
