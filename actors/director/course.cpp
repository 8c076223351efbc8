#include "actors/director/course.hpp"

#include <algorithm>

#include "core/assert.hpp"

namespace troupe::actors {

using policies::verdict;

namespace {

/// Visits of buffers and windows may fetch whatever is newest.
constexpr round_number no_cut{~std::uint64_t{0}};

} // namespace

course::actions course::joined(const messages::client_joined& x, instant now) {
  actions out;
  auto& entry = clients_[x.client];
  if (entry.record.numbers_upto == 0)
    entry.record = {.client = x.client, .examples = x.examples};
  if (entry.number >= entry.numbers_saved) // As after each restart.
    unsaved_.insert(x.client);
  joins_ += !std::exchange(entry.present, true);
  std::erase_if(lost_, [&](visit_id y) { return y.client == x.client; });
  if (begins_anew(x))
    out.push_back(messages::client_began_anew{x.client});
  if (!is_left_alone(entry, now))
    entry.not_before = {};
  if (!candidate_of(x.client)) {
    entry.known_as.client = x.client;
    entry.known_as.examples = x.examples;
    candidates_.insert(std::ranges::lower_bound(candidates_, x.client, {},
                                                &policies::candidate::client),
                       entry.known_as);
  }
  if (started_ && std::exchange(admitted_, clients_.size()) < clients_.size())
    out.push_back(messages::clients_admitted{admitted_});
  if (x.open)
    take_up(*x.open, now);
  entry.busy = {};
  // It may have been away when it was invited, or have forgotten.
  for (auto at = open_.lower_bound({x.client, {}});
       at != open_.end() && at->first.client == x.client; ++at)
    if (phase_ != phase::opening) {
      at->second.wait = {}; // It is here, and nothing was lost on the way yet.
      invite_again(at->second, now);
      out.push_back(messages::invitation_made{at->second.pass});
    }
  carry_on(out, now);
  return out;
}

course::actions course::left(const messages::client_left& x, instant now) {
  actions out;
  if (const auto found = clients_.find(x.client);
      found != clients_.end() && std::exchange(found->second.present, false))
    ++(x.said ? leaves_ : losses_);
  if (const auto* at = candidate_of(x.client)) {
    clients_.at(x.client).known_as = *at;
    candidates_.erase(candidates_.begin() + (at - candidates_.data()));
  }
  const auto open = open_.lower_bound(visit_id{x.client, visit_number{0}});
  if (open != open_.end() && open->first.client == x.client) {
    const auto visit = open->first;
    if (x.said) {
      if (!is_any_kept(open->second.parts)) // Else its lines answer.
        out.push_back(messages::visit_withdrawn{visit});
      give_up(visit, now);
    } else {
      lost_.insert(visit); // Somebody else has its slot; its ticket is valid.
    }
  }
  carry_on(out, now);
  return out;
}

course::actions course::taken(const messages::part_taken& x, instant now) {
  actions out;
  if (is_kept(x.verdict)) {
    missing_.erase({x.visit, x.line});
    stale_ = 0;
  } else {
    stale_ += x.verdict == verdict::too_stale;
    note_gone(x.visit, x.line);
  }
  if (x.verdict == verdict::accepted)
    note_kept(x.visit, x.line);
  const auto found = open_.find(x.visit);
  if (found == open_.end()) {
    take_loose(x, now);
    if (is_kept(x.verdict))
      return out;
    settle(x.visit, x.line); // It may refuse what it had kept.
    carry_on(out, now);
    return out;
  }
  auto& v = found->second;
  v.parts[x.line] = x.verdict;
  if (!is_whole(v.parts, x.lines_total))
    return out;
  if (auto* at = candidate_of(x.visit.client)) {
    at->loss = x.loss;
    at->utility =
      policies::statistical_utility({.examples = at->examples, .loss = x.loss});
    at->scored = true;
  }
  offered(x.visit, v, now);
  close_visit(x.visit);
  carry_on(out, now);
  return out;
}

course::actions course::published(const messages::version_published& x,
                                  instant now) {
  actions out;
  heads_[x.line] = x.head;
  for (const auto& visit : x.merged) {
    note_gone(visit, x.line);
    updates_ += policies::insert_once(merged_, visit) ? 1 : 0;
    if (const auto open = open_.find(visit); open != open_.end())
      open->second.merged.insert(x.line);
    else
      settle(visit, x.line);
  }
  refill_ = true;
  fruitless_ = 0;
  carry_on(out, now);
  return out;
}

course::actions course::ended(const messages::line_ended& x, instant now) {
  actions out;
  ended_.insert(x.line);
  heads_[x.line] = x.head;
  carry_on(out, now);
  return out;
}

course::actions course::finish(std::string reason, bool failed, instant now) {
  actions out;
  if (finishing_)
    return out;
  finishing_ = messages::run_finished{std::move(reason), failed};
  for (const auto& [visit, v] : open_)
    if (!is_any_kept(v.parts)) // Else its lines answer, as they end.
      out.push_back(messages::visit_withdrawn{visit});
  open_.clear();
  lost_.clear();
  loose_.clear();
  out.push_back(messages::line_closing{});
  carry_on(out, now);
  return out;
}

course::actions course::due(instant now) {
  actions out;
  if (now >= look_at_)
    look_at_visits(out, now);
  carry_on(out, now);
  return out;
}

void course::look_at_visits(actions& out, instant now) {
  look_at_ = never;
  std::vector<visit_id> expired;
  for (auto& [visit, v] : open_) {
    if (v.pass.expires() <= now) {
      expired.push_back(visit);
      continue;
    }
    if (v.again <= now && phase_ != phase::opening) {
      invite_again(v, now);
      out.push_back(messages::invitation_made{v.pass});
    }
    // What is not announced yet has nothing to repeat.
    look_at_ = std::min(look_at_, v.pass.expires());
    if (phase_ != phase::opening)
      look_at_ = std::min(look_at_, v.again);
  }
  for (const auto& visit : expired)
    expire(visit, out);
  drop_loose(out, now);
  pauses_.erase(pauses_.begin(), pauses_.upper_bound(now));
  if (!pauses_.empty())
    look_at_ = std::min(look_at_, *pauses_.begin());
}

void course::invite_again(open_visit& x, instant now) {
  x.wait = std::min(2 * std::max(x.wait, options_.invitation_first),
                    options_.invitation_retry);
  x.again = now + x.wait;
  look_at_ = std::min(look_at_, x.again);
}

std::optional<instant> course::next_due() const {
  if (finishing_)
    return std::nullopt;
  auto least = look_at_;
  if (phase_ == phase::open && by_round(options_.mode))
    least = std::min(least, deadline_);
  if (phase_ == phase::merging)
    least = std::min(least, strike_at_);
  if (options_.budget.seconds > 0)
    least = std::min(least, from_seconds(options_.budget.seconds));
  if (least == never)
    return std::nullopt;
  return least;
}

void course::carry_on(actions& out, instant now) {
  if (!finishing_)
    if (auto why = reason_to_end(now)) {
      auto more = finish(std::move(why->reason), why->failed, now);
      std::ranges::move(more, std::back_inserter(out));
      return;
    }
  if (finishing_) {
    if (ended_.size() == options_.lines.size() && !std::exchange(told_, true)) {
      finishing_->heads = heads_;
      out.push_back(*finishing_);
    }
    return;
  }
  if (!started_ && may_start()) {
    started_ = true;
    admitted_ = clients_.size();
    out.push_back(messages::clients_admitted{admitted_});
  }
  if (started_) {
    if (by_round(options_.mode))
      consider_closing(out, now);
    if (options_.mode == pace_kind::sync)
      open_round(out, now);
    else
      fill(out, now);
  }
  save(out);
}

bool course::may_start() const {
  return candidates_.size() >= options_.clients_expected && unsaved_.empty()
         && !saving_;
}

void course::fill(actions& out, instant now) {
  if (options_.refill_by_version && !refill_ && awaited() > 0)
    return;
  while (awaited() < options_.concurrency && has_room()) {
    auto pass = next_ticket(out, now);
    if (!pass)
      break;
    open_visit_of(*pass, now);
    out.push_back(messages::invitation_made{*pass});
  }
  refill_ = false;
}

std::optional<messages::ticket> course::next_ticket(actions& out, instant now) {
  if (invitations_.state().invitations >= index_saved_) {
    index_asked_ = index_saved_ + indices_wanted();
    return std::nullopt;
  }
  const auto turn = invitations_.next(
    [=, this](client_id x) { return is_busy(x, now); }, candidates_);
  for (const auto& x : invitations_.skips())
    out.push_back(skipped{x});
  if (!turn)
    return std::nullopt;
  if (turn->index + limits::indices_reserved / 2 > index_saved_)
    index_asked_ = index_saved_ + indices_wanted();
  auto& entry = clients_.at(turn->client);
  const visit_id visit{turn->client, {++entry.number}};
  if (entry.number + limits::numbers_reserved / 2 > entry.record.numbers_upto)
    unsaved_.insert(turn->client);
  const bool sync = options_.mode == pace_kind::sync;
  return messages::ticket{
    .visit = visit,
    .index = turn->index,
    .seed = turn->seed,
    .role = turn->role,
    .progress = policies::progress(options_.budget, spent(now)),
    .round = sync ? round_.round : round_number{},
    .cut = by_round(options_.mode) ? round_number{rounds_} : no_cut,
    .expires_ns = (now + options_.visit_timeout).count()};
}

/// A cohort at least, or it would never be whole.
std::uint64_t course::indices_wanted() const {
  return std::max<std::uint64_t>(
    limits::indices_reserved,
    policies::cohort_size(options_.clients_per_round, options_.over_selection));
}

void course::open_visit_of(const messages::ticket& pass, instant now) {
  clients_.at(pass.visit.client).open = true;
  open_.emplace(pass.visit, open_visit{.pass = pass,
                                       .parts = {},
                                       .again = now + options_.invitation_first,
                                       .wait = options_.invitation_first});
  look_at_ =
    std::min({look_at_, now + options_.invitation_first, pass.expires()});
  if (auto* at = candidate_of(pass.visit.client))
    ++at->times_chosen;
}

policies::candidate* course::candidate_of(client_id x) {
  const auto at =
    std::ranges::lower_bound(candidates_, x, {}, &policies::candidate::client);
  return at != candidates_.end() && at->client == x ? &*at : nullptr;
}

void course::offered(visit_id x, const open_visit& v, instant now) {
  auto& entry = clients_.at(x.client);
  messages::closed_visit what{x, {}};
  for (const auto& [line, verdict] : v.parts)
    if (is_kept(verdict))
      what.lines.push_back(line);
  if (options_.state == state_rule::on_accept)
    for (const auto& [line, verdict] : v.parts)
      if (verdict == verdict::accepted && !v.merged.contains(line))
        entry.unsettled.emplace(x, line);
  // What came too late says nothing of its client, and `why` says it.
  if (!what.lines.empty())
    forgive(x.client);
  const bool complete = what.lines.size() == v.parts.size();
  if (by_round(options_.mode) && !what.lines.empty()
      && (complete || options_.mode == pace_kind::semisync))
    offered_.insert({now, std::move(what)});
}

void course::close_visit(visit_id x) {
  if (open_.erase(x) > 0)
    clients_.at(x.client).open = false;
  lost_.erase(x);
}

void course::settle(visit_id x, line_id line) {
  if (const auto found = clients_.find(x.client); found != clients_.end())
    found->second.unsettled.erase({x, line});
}

bool course::is_busy(client_id x, instant now) const {
  const auto& entry = clients_.at(x);
  return entry.open || !entry.unsettled.empty() || entry.not_before > now
         || entry.number >= entry.numbers_saved;
}

policies::spent_budget course::spent(instant now) const {
  policies::spent_budget x{.rounds = rounds_ - barren_,
                           .versions = 0,
                           .updates = updates_,
                           .seconds = seconds(now)};
  if (options_.lead)
    x.versions = heads_.at(*options_.lead).value;
  else
    for (const auto& [line, head] : heads_)
      x.versions = std::max(x.versions, head.value);
  return x;
}

bool course::budget_spent(instant now) const {
  // A round's versions may be there before the round is over.
  if (by_round(options_.mode)
      && (phase_ == phase::closing || phase_ == phase::merging))
    return false;
  return policies::exhausted(options_.budget, spent(now));
}

} // namespace troupe::actors
