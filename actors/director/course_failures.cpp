// Visits that fail: who is left alone for them; and what ends the run.

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/director/course.hpp"
#include "policies/refusal.hpp"

namespace troupe::actors {

course::actions course::failed(const messages::visit_failed& x, instant now) {
  actions out;
  if (is_in_last_visits()) {
    if (find_open(x.visit) || is_done_since(x)) {
      last_visit_ended(x, out, now);
      carry_on(out, now);
    }
    return out;
  }
  const auto* verdict = std::get_if<policies::verdict>(&x.why);
  const bool shut = verdict && *verdict == policies::verdict::withdrawn;
  will_not_come(x.visit, {}, now);
  if (shut)
    drop_offer(x.visit, out);
  if (!find_open(x.visit)) {
    if (!out.empty() || strike_at_ <= now)
      carry_on(out, now);
    return out;
  }
  // Its ticket is good no more: as if it had expired.
  if (verdict && *verdict == policies::verdict::not_invited) {
    expire(x.visit, out, now);
    pause(x.visit.client, now + options_.decline_pause);
    carry_on(out, now);
    return out;
  }
  give_up(x.visit, now);
  if (shut)
    loose_.erase(x.visit);
  using messages::decline_reason;
  const auto* why = std::get_if<decline_reason>(&x.why);
  const bool done = why && *why == decline_reason::no_offer;
  // With work that we do not know of, or it drains.
  const bool busy = why && *why == decline_reason::busy;
  const bool dropped = why && *why == decline_reason::dropped;
  // Who is busy waits for us, who drops out was not asked how it went, and who
  // asks for the same too often may have a bad line.
  const bool neither = shut || busy || dropped;
  done_ += done && by_round(options_.mode);
  done_ever_ += done;
  if (dropped) {
    ++dropped_;
    round_has_gaps_ = true;
  }
  if (!neither)
    note_fruitless(x.visit.client);
  if (done && !options_.offers)
    bears_fruit(x.visit.client, out);
  if (!done && !neither)
    note_failure(x, out, now);
  if (busy || (options_.strangers && options_.offers))
    came_to_nothing(x.visit.client, now);
  else if (shut || (why && !done && !dropped))
    pause(x.visit.client, now + options_.decline_pause);
  carry_on(out, now);
  return out;
}

// By all its lines. What came too late says nothing of its client, but that it
// need not hurry.
void course::refused(const messages::part_taken& x, const part_verdicts& parts,
                     actions& out, instant now) {
  if (std::ranges::any_of(parts, [](const auto& y) {
        return y.second == policies::verdict::malformed;
      }))
    note_failure({x.visit, policies::verdict::malformed}, out, now);
  if (options_.strangers)
    came_to_nothing(x.visit.client, now);
}

// Each time it waits for longer, until something of it is kept.
void course::came_to_nothing(client_id x, instant now) {
  auto& entry = clients_.at(x);
  entry.in_vain = entry.in_vain == instant{}
                    ? options_.decline_pause
                    : std::min(2 * entry.in_vain, options_.alone_first);
  in_vain_.insert(x);
  pause(x, now + entry.in_vain);
}

/// Of a run that merges nothing, a visit that came to its end.
void course::bears_fruit(client_id x, actions& out) {
  fruitless_ = fruitless_clients_ = dropped_ = 0;
  ++versions_seen_;
  forgive(x);
  if (options_.batch > 0 && done_ever_ % options_.batch == 0)
    out.push_back(messages::round_counted{.rounds = rounds_counted(),
                                          .is_of_visits = true});
}

void course::note_fruitless(client_id x) {
  ++fruitless_;
  auto& entry = clients_.at(x);
  if (std::exchange(entry.fruitless_at, versions_seen_) != versions_seen_)
    ++fruitless_clients_;
}

void course::note_failure(const messages::visit_failed& x, actions& out,
                          instant now) {
  failure_ = x;
  ++failed_ever_;
  auto& entry = clients_.at(x.visit.client);
  ++entry.failures;
  messages::client_failed said{.last = x, .failures = entry.failures};
  if (options_.failures_max > 0 && entry.failures >= options_.failures_max) {
    leave_alone(x.visit.client, now);
    said.alone_until = entry.not_before;
  }
  out.push_back(said);
}

void course::pause(client_id x, instant until) {
  auto& entry = clients_.at(x);
  entry.not_before = std::max(entry.not_before, until);
  pauses_.insert({entry.not_before, x});
  changed_.push_back(x);
}

void course::leave_alone(client_id x, instant now) {
  auto& entry = clients_.at(x);
  failing_.insert(x);
  entry.alone = entry.alone == instant{}
                  ? options_.alone_first
                  : std::min(2 * entry.alone, options_.alone_max);
  pause(x, now + entry.alone);
}

void course::forgive(client_id x) {
  auto& entry = clients_.at(x);
  entry.failures = 0;
  entry.alone = {};
  entry.in_vain = {};
  in_vain_.erase(x);
  failing_.erase(x);
}

bool course::is_left_alone(const client_entry& x, instant now) const {
  return options_.failures_max > 0 && x.failures >= options_.failures_max
         && x.not_before > now;
}

std::uint64_t course::left_alone(instant now) const {
  return static_cast<std::uint64_t>(
    std::ranges::count_if(failing_, [&](client_id x) {
      const auto& entry = clients_.at(x);
      return entry.present && is_left_alone(entry, now);
    }));
}

std::uint64_t course::not_counted_on(instant now) const {
  const auto more = std::ranges::count_if(in_vain_, [&](client_id x) {
    const auto& entry = clients_.at(x);
    return entry.present && entry.not_before > now
           && !is_left_alone(entry, now);
  });
  return left_alone(now) + static_cast<std::uint64_t>(more);
}

bool course::nobody_can_be_invited(instant now) const {
  return !clients_.empty() && open_count_ == 0
         && failing_.size() == clients_.size()
         && std::ranges::all_of(clients_, [&](const auto& x) {
              return is_left_alone(x.second, now);
            });
}

course::actions course::evaluated(const messages::evaluation_finished& x,
                                  double metric, instant now) {
  actions out;
  if (!options_.stop)
    return out;
  // That nobody answered says nothing of the version.
  if (x.asked && !std::isfinite(metric))
    return out;
  const auto verdict = stopper_.observe(metric).stop;
  stopper_is_dirty_ = true;
  switch (verdict) {
    case policies::stop_reason::none:
      save(out);
      return out;
    case policies::stop_reason::target:
      return end(messages::course_end::target, now);
    case policies::stop_reason::patience:
      break;
  }
  return end(messages::course_end::patience, now);
}

std::optional<messages::run_finished> course::reason_to_end(instant now) const {
  if (budget_spent(now)) {
    const std::string reached = "the run's length is reached";
    const bool made = std::ranges::any_of(
      heads_, [](const auto& x) { return x.second.value > 0; });
    if (options_.offers ? made : done_ever_ > 0)
      return messages::run_finished{reached, false};
    return messages::run_finished{reached
                                    + (options_.offers
                                         ? ", and no version was made"
                                         : ", and no visit came to its end")
                                    + failures_text(),
                                  true};
  }
  if (started_ && nobody_can_be_invited(now))
    return messages::run_finished{
      "the visits of all " + std::to_string(clients_.size()) + " clients fail, "
        + std::to_string(options_.failures_max) + " times or more in a row"
        + failures_text(),
      true};
  // Not by the word of a few.
  const bool of_many = 2 * fruitless_clients_ > clients_.size()
                       || fruitless_clients_ >= options_.fruitless_max;
  if (options_.fruitless_max > 0 && fruitless_ >= options_.fruitless_max
      && of_many)
    return messages::run_finished{"the last " + std::to_string(fruitless_)
                                    + " visits that ended made no version"
                                    + failures_text(),
                                  true};
  if (options_.dropped_max > 0 && dropped_ >= options_.dropped_max)
    return messages::run_finished{
      "since there was a version, or the run began, " + std::to_string(dropped_)
        + " visits dropped out",
      true};
  return std::nullopt;
}

std::string course::failures_text() const {
  if (!failure_)
    return {};
  std::string text = "; the last that failed was one of client "
                     + std::to_string(failure_->visit.client.value);
  const auto* why = std::get_if<policies::verdict>(&failure_->why);
  if (!why)
    return text;
  return text + ", whose offer was " + policies::about_refused(*why);
}

} // namespace troupe::actors
