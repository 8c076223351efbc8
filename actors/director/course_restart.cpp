// What a course begins with: nothing, or what is durable of an earlier life.

#include <algorithm>

#include "actors/director/course.hpp"

namespace troupe::actors {

namespace {

policies::invitation_state resumed(std::uint64_t index_upto) {
  return {.invitations = index_upto,
          .window = {index_upto},
          .waiting = {},
          .open = {}};
}

policies::candidate as_recorded(const messages::client_record& x) {
  policies::candidate result{
    .client = x.client, .examples = x.examples, .times_chosen = x.times_chosen};
  if (x.loss) {
    result.loss = *x.loss;
    result.utility =
      policies::statistical_utility({.examples = x.examples, .loss = *x.loss});
    result.scored = true;
  }
  return result;
}

} // namespace

course::course(options opts, durable found)
  : options_(std::move(opts)),
    invitations_(options_.selection, resumed(found.index_upto)),
    heads_(std::move(found.heads)),
    stopper_(options_.stop.value_or(policies::stop_rule{}), found.stopper),
    round_(std::move(found.round)),
    rounds_(round_.round.value),
    index_asked_(found.index_upto),
    index_saved_(found.index_upto),
    updates_(found.updates),
    round_has_version_(found.round_has_version),
    started_(found.index_upto > 0),
    end_(options_.last_role ? found.end : messages::course_end::none),
    end_is_saved_(found.end != messages::course_end::none),
    had_last_(std::move(found.had_last)) {
  for (const auto& [client, record] : found.clients)
    clients_[client] = {.number = record.numbers_upto,
                        .given_before = record.numbers_upto,
                        .numbers_saved = record.numbers_upto,
                        .record = record,
                        .known_as = as_recorded(record)};
  for (const auto& [client, window] : found.merged)
    if (clients_.contains(client))
      clients_.at(client).merged = window;
  resume_round(found.fruitful);
}

messages::invitation_made
course::invitation(const messages::ticket& pass) const {
  const auto& entry = clients_.at(pass.visit.client);
  return {pass, pass.visit.number.value <= entry.given_before};
}

// What a restart finds of a round: an open one waits for its cohort again, a
// closed one is merged by the lines that have not done so.
void course::resume_round(std::uint64_t fruitful) {
  if (!by_round(options_.mode) || round_.round.value == 0)
    return;
  rounds_ = round_.round.value - 1;
  if (options_.offers) // Else no round has a version.
    barren_ = rounds_ - std::min(rounds_, fruitful);
  if (round_.closed != 0) {
    phase_ = phase::closing;
    round_is_saved_ = list_is_told_again_ = true;
    round_is_barren_ = options_.offers && round_.visits.empty();
    std::ranges::sort(round_.visits, {}, &messages::closed_visit::visit);
    for (const auto& pass : round_.cohort)
      if (!is_on_a_list(pass.visit))
        left_out_.push_back(pass.visit);
    return;
  }
  for (const auto& pass : round_.cohort) {
    auto& entry = clients_[pass.visit.client];
    ++open_count_;
    // It is told again when it says hello.
    auto& v = entry.open.emplace_back(
      open_visit{.pass = pass, .parts = {}, .again = never});
    set_alarm(pass.visit, v);
  }
  phase_ = phase::open;
}

// Once after a restart, since what it says may be old by the time that it
// arrives; visits of rounds are durable.
void course::take_up(const messages::ticket& pass, actions& out, instant now) {
  const auto visit = pass.visit;
  if (find_open(visit))
    return;
  // What an earlier process asked for at the end is asked for anew.
  if (end_ != messages::course_end::none)
    return out.push_back(messages::visit_withdrawn{visit});
  if (finishing_ || is_with_lines(visit))
    return;
  auto& entry = clients_.at(visit.client);
  if (options_.mode == pace_kind::sync || !entry.open.empty()
      || visit.number.value > entry.given_before
      || visit.number <= entry.taken_up) {
    out.push_back(messages::visit_withdrawn{visit}); // Nobody waits for it.
    return;
  }
  entry.taken_up = visit.number;
  open_visit_of(pass, now);
}

/// They have it, or had it, and answer for it.
bool course::is_with_lines(visit_id x) const {
  const auto at = pending_.lower_bound({x, line_id{}});
  return (at != pending_.end() && at->first.first == x) || loose_.contains(x)
         || is_on_a_list(x)
         || clients_.at(x.client).merged.of(x.number)
              != policies::visit_window::state::open;
}

} // namespace troupe::actors
