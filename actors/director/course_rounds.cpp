// Rounds and windows: how a list of visits closes, and what is saved before.

#include <algorithm>
#include <chrono>

#include "actors/director/course.hpp"
#include "core/assert.hpp"

namespace troupe::actors {

namespace {

/// So long a window waits for what may be under way, after who has not come is
/// late: to say an offer again takes less.
constexpr instant said_again_within = std::chrono::minutes{10};

} // namespace

void course::open_round(actions& out, instant now) {
  if (phase_ != phase::idle)
    return;
  // A round that could not reach its quorum would be given up in the same
  // instant, and the next one as well: it waits until enough clients are free.
  const auto n = options_.clients_per_round;
  auto needed = options_.quorum == 0 ? n : std::min(options_.quorum, n);
  // Rounds go on without those who always fail, or of whom nothing comes.
  if (const auto without = not_counted_on(now); without > 0)
    needed = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(candidates_.size() - without, 1, needed));
  if (free_ < needed)
    return;
  const auto wanted = policies::cohort_size(n, options_.over_selection);
  if (invitations_.made() + wanted > index_saved_) {
    index_asked_ = index_saved_ + indices_wanted();
    return;
  }
  messages::round_record next{.round = {rounds_ + 1}};
  std::swap(round_, next);
  while (round_.cohort.size() < wanted) {
    auto pass = next_ticket(out, now);
    if (!pass)
      break;
    open_visit_of(*pass, now);
    round_.cohort.push_back(*pass);
  }
  if (round_.cohort.empty()) {
    // Nobody is free; somebody will join, or a save will end.
    std::swap(round_, next);
    return;
  }
  round_has_gaps_ = false;
  phase_ = phase::opening;
  round_is_dirty_ = true;
}

void course::announce_cohort(actions& out, instant now) {
  phase_ = phase::open;
  deadline_ = now + options_.round_deadline;
  for (const auto& pass : round_.cohort)
    if (auto* v = find_open(pass.visit)) {
      v->wait = options_.invitation_first;
      v->again = now + options_.invitation_first;
      set_alarm(pass.visit, *v);
      out.push_back(invitation(pass));
    }
}

void course::consider_closing(actions& out, instant now) {
  if (phase_ == phase::merging && now >= strike_at_)
    strike_missing(now);
  if (phase_ == phase::closing && round_is_saved_)
    return announce_list(out, now);
  if (options_.mode == pace_kind::semisync && phase_ == phase::idle) {
    phase_ = phase::open;
    deadline_ = std::max(deadline_ + options_.window, now);
  }
  if (phase_ != phase::open)
    return;
  if (deadline_ == instant{}) // After a restart.
    deadline_ = now
                + (options_.mode == pace_kind::sync ? options_.round_deadline
                                                    : options_.window);
  const bool passed = now >= deadline_;
  if (options_.mode == pace_kind::semisync) {
    // What strangers have nothing to offer for is no window's work.
    const bool idle = done_ == 0 || (options_.strangers && options_.offers);
    const bool few =
      offered_.empty() ? idle : offered_.size() < options_.offers_needed;
    if (passed && few) {
      deadline_ = now + options_.window; // In an empty window nothing was done.
      ++empty_;
    } else if (passed)
      close_round(offered_.size());
    return;
  }
  const auto invited = static_cast<std::uint32_t>(round_.cohort.size());
  auto n = std::min(options_.clients_per_round, invited);
  // All: who is still at work on it, or has offered.
  if (options_.quorum == 0)
    n = std::clamp<std::uint32_t>(
      static_cast<std::uint32_t>(complete() + awaited()), 1, n);
  switch (policies::decide({.clients_per_round = n, .quorum = options_.quorum},
                           {.complete = static_cast<std::uint32_t>(complete()),
                            .still_open = static_cast<std::uint32_t>(awaited()),
                            .deadline_passed = passed})) {
    case policies::round_decision::wait:
      return;
    case policies::round_decision::close:
      if (!offered_.empty() && offered_.size() < options_.offers_needed)
        break;
      given_up_ = 0;
      return close_round(std::min<std::size_t>(offered_.size(), n));
    case policies::round_decision::give_up:
      break;
  }
  ++given_up_;
  close_round(0);
}

void course::close_round(std::size_t count) {
  if (options_.mode == pace_kind::semisync)
    round_ = {.round = {rounds_ + 1}};
  empty_ = complete() == 0 ? empty_ + 1 : 0;
  round_.closed = 1;
  round_.visits.clear();
  for (const auto& x : offered_)
    if (round_.visits.size() < count)
      round_.visits.push_back(x.what);
  std::ranges::sort(round_.visits, {}, &messages::closed_visit::visit);
  if (options_.mode == pace_kind::sync) {
    // In vain, with the one that failed; who drops out does not.
    if (given_up_ > 0 && !round_has_gaps_)
      for (const auto& pass : round_.cohort)
        if (find_open(pass.visit) || is_on_a_list(pass.visit))
          note_fruitless(pass.visit.client);
    // Whoever is not on the list has trained for nothing, and hears so as soon
    // as the list is durable. What lines hold of it they answer themselves.
    for (const auto& pass : round_.cohort)
      if (const auto* v = find_open(pass.visit)) {
        if (!is_any_kept(v->parts))
          left_out_.push_back(pass.visit);
        close_visit(pass.visit);
      }
    std::ranges::sort(left_out_);
  }
  round_is_barren_ = count == 0 && done_ == 0;
  round_has_version_ = list_is_told_again_ = false;
  // How it fared is durable with its round.
  for (const auto& x : offered_)
    unsaved_.insert(x.what.visit.client);
  offered_.clear();
  done_ = 0;
  phase_ = phase::closing;
  round_is_dirty_ = true;
  round_is_saved_ = false;
}

// A line has begun again without what it had. Its list is that of its director.
course::actions course::lacking(const messages::parts_lacked& x, instant now) {
  actions out;
  if (phase_ != phase::merging || x.round != round_.round)
    return out; // Of a list that is struck is told again.
  for (const auto visit : x.visits)
    missing_.insert({visit, x.line});
  for (const auto visit : x.refused)
    over_.insert({visit, x.line});
  strike_at_ = now;
  carry_on(out, now);
  return out;
}

// A line or, of all its parts, the gateway has refused it, and its client lets
// go of it. Lines that have it do not lack it.
void course::will_not_come(visit_id x, std::optional<line_id> to, instant now) {
  if (phase_ != phase::closing && phase_ != phase::merging)
    return;
  const auto listed = std::ranges::lower_bound(round_.visits, x, {},
                                               &messages::closed_visit::visit);
  if (listed == round_.visits.end() || listed->visit != x)
    return;
  for (const auto line : listed->lines)
    if (!to || *to == line)
      over_.insert({x, line});
  look_for_missing(x.client, now);
}

void course::look_for_missing(client_id of, instant now) {
  const auto at = missing_.lower_bound({visit_id{of, {}}, line_id{}});
  bool is_news = at != missing_.end() && at->first.client == of;
  if (first_came_ == never && clients_.at(of).present) {
    first_came_ = now; // From now on who has not come is late.
    is_news = !missing_.empty();
  }
  if (is_news)
    strike_at_ = std::min(strike_at_, now);
}

// Who remembers a visit may have its offer, too, and then says it again.
bool course::is_gone(visit_id x, bool is_late) const {
  const auto& entry = clients_.at(x.client);
  return entry.remembers < x.number || (is_late && !entry.present);
}

// A line that has meanwhile heard of a part after all merges it all the same,
// and answers for the round either way.
void course::strike_missing(instant now) {
  // Where nobody has come, clients may take longer to start than their server.
  const auto absent =
    options_.silence_max > instant{} && first_came_ < never
      ? std::max(listed_at_, first_came_) + options_.silence_max
      : never;
  // Then no ticket of the list is good any more.
  auto last =
    listed_at_ + std::min(options_.round_deadline, options_.visit_timeout);
  // Who is here may have let go of what a process before this one refused. An
  // offer that comes later is in the next window.
  if (options_.mode == pace_kind::semisync && absent < never)
    last = std::min(last, absent + said_again_within);
  std::set<std::pair<visit_id, line_id>> gone;
  for (const auto& part : missing_)
    if (unmerged_.contains(part.second)
        && (now >= last || over_.contains(part)
            || is_gone(part.first, now >= absent)))
      gone.insert(part);
  strike_at_ = never;
  for (const instant next : {absent, last})
    if (now < next && gone.size() < missing_.size())
      strike_at_ = std::min(strike_at_, next);
  if (gone.empty())
    return;
  for (const auto& part : gone) {
    missing_.erase(part);
    over_.erase(part);
  }
  for (auto& x : round_.visits)
    std::erase_if(x.lines, [&](line_id line) {
      return gone.contains({x.visit, line});
    });
  std::erase_if(round_.visits, [](const auto& x) { return x.lines.empty(); });
  round_is_barren_ |= options_.offers && round_.visits.empty();
  phase_ = phase::closing;
  round_is_dirty_ = list_is_told_again_ = true;
  round_is_saved_ = false;
}

void course::announce_list(actions& out, instant now) {
  phase_ = phase::merging;
  for (const auto visit : std::exchange(left_out_, {}))
    out.push_back(messages::visit_withdrawn{visit});
  if (listed_at_ == never)
    listed_at_ = now;
  unmerged_ = {options_.lines.begin(), options_.lines.end()};
  out.push_back(
    messages::round_closed{.round = round_.round,
                           .visits = round_.visits,
                           .keep_late = options_.mode == pace_kind::semisync,
                           .again = list_is_told_again_});
}

course::actions course::merged(const messages::round_merged& x, instant now) {
  actions out;
  heads_[x.line] = std::max(heads_[x.line], x.head);
  if (phase_ != phase::merging || x.round != round_.round)
    return out;
  unmerged_.erase(x.line);
  if (!unmerged_.empty())
    return out;
  missing_.clear();
  over_.clear();
  strike_at_ = listed_at_ = never;
  if (round_has_version_) {
    round_is_barren_ = false; // A line may have had what was struck.
  } else if (!round_.visits.empty()) {
    // No line had enough of what was offered.
    round_is_barren_ = true;
    for (const auto& x : round_.visits)
      note_fruitless(x.visit.client);
  }
  rounds_ = round_.round.value;
  barren_ += round_is_barren_;
  if (!round_is_barren_)
    out.push_back(messages::round_counted{rounds_ - barren_});
  phase_ = phase::idle;
  refill_ = true;
  // A round's offers are merged or withdrawn by now; a window's may wait.
  if (options_.mode == pace_kind::sync) {
    for (const auto client : std::exchange(unsettled_, {})) {
      clients_.at(client).unsettled.clear();
      changed_.push_back(client);
    }
    pending_.clear();
    pending_bytes_ = 0;
  }
  carry_on(out, now);
  return out;
}

// Records.

// One save is under way at a time, so that an older one that is repeated cannot
// overtake a newer one.
void course::save(actions& out) {
  const bool round = round_is_dirty_;
  const bool ends_now = last_visits_began_ && !end_is_saved_;
  if (saving_
      || (unsaved_.empty() && index_asked_ == index_saved_ && !round
          && !stopper_is_dirty_ && unsaved_last_.empty() && !ends_now))
    return;
  saving_ = messages::save_requested{
    .token = ++token_, .clients = {}, .index_upto = index_asked_, .round = {}};
  for (const auto client : unsaved_) {
    auto& entry = clients_.at(client);
    auto& record = entry.record;
    if (entry.number + limits::numbers_reserved / 2 > record.numbers_upto)
      record.numbers_upto =
        std::max(record.numbers_upto, entry.number) + limits::numbers_reserved;
    const auto* here = candidate_of(client);
    const auto& fared = here ? *here : entry.known_as;
    record.times_chosen = fared.times_chosen;
    if (fared.scored)
      record.loss = fared.loss;
    saving_->clients.push_back(record);
  }
  unsaved_.clear();
  if (round)
    saving_->round = round_;
  round_is_dirty_ = false;
  if (std::exchange(stopper_is_dirty_, false))
    saving_->stopper = stopper_.state();
  if (ends_now)
    saving_->end = end_;
  saving_->last_visits = std::exchange(unsaved_last_, {});
  out.push_back(*saving_);
}

course::actions course::saved(std::uint64_t token, instant now) {
  actions out;
  if (!saving_ || saving_->token != token)
    return out;
  const auto done = std::move(*saving_);
  saving_.reset();
  for (const auto& record : done.clients) {
    clients_.at(record.client).numbers_saved = record.numbers_upto;
    changed_.push_back(record.client);
  }
  index_saved_ = done.index_upto;
  end_is_saved_ |= done.end != messages::course_end::none;
  if (done.round && !finishing_) {
    if (phase_ == phase::opening)
      announce_cohort(out, now);
    else if (phase_ == phase::closing)
      round_is_saved_ = true;
  }
  carry_on(out, now);
  return out;
}

} // namespace troupe::actors
