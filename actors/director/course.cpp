#include "actors/director/course.hpp"

#include <algorithm>

#include "core/assert.hpp"

namespace troupe::actors {

using policies::verdict;

namespace {

/// Visits of buffers and windows may fetch whatever is newest.
constexpr round_number no_cut{~std::uint64_t{0}};

/// Further ahead no client can be, of which a server's copy knows less.
constexpr std::uint64_t ahead_of_copy_max = 1 << 20;

} // namespace

course::actions course::joined(const messages::client_joined& x, instant now) {
  actions out;
  auto& entry = clients_[x.client];
  if (entry.record.numbers_upto == 0)
    entry.record = {.client = x.client, .examples = x.examples};
  // A server that is older than its clients gives no number again.
  if (x.last != messages::hello::not_said
      && x.last.value < entry.number + ahead_of_copy_max)
    entry.number = std::max(entry.number, x.last.value);
  if (entry.number >= entry.numbers_saved) // As after each restart.
    unsaved_.insert(x.client);
  joins_ += !std::exchange(entry.present, true);
  entry.has_left = false;
  entry.remembers = x.last;
  look_for_missing(x.client, now);
  std::erase_if(lost_, [&](visit_id y) { return y.client == x.client; });
  if (begins_anew(x))
    out.push_back(messages::client_began_anew{x.client});
  const bool waits = options_.strangers && entry.in_vain > instant{};
  if (!waits && !is_left_alone(entry, now))
    entry.not_before = {};
  changed_.push_back(x.client);
  if (is_in_last_visits() && is_owed(x.client))
    owed_.insert(x.client);
  if (!candidate_of(x.client)) {
    invitations_.roster_changed();
    entry.known_as.client = x.client;
    entry.known_as.examples = x.examples;
    candidates_.insert(std::ranges::lower_bound(candidates_, x.client, {},
                                                &policies::candidate::client),
                       entry.known_as);
  }
  if (started_ && std::exchange(admitted_, clients_.size()) < clients_.size())
    out.push_back(messages::clients_admitted{admitted_});
  if (x.open)
    take_up(*x.open, out, now);
  if (!waits) {
    entry.in_vain = {};
    in_vain_.erase(x.client);
  }
  // It may have been away when it was invited, or have forgotten.
  if (!entry.open.empty() && phase_ != phase::opening) {
    auto& v = entry.open.front();
    v.wait = {}; // It is here, and nothing was lost on the way yet.
    invite_again(v.pass.visit, v, now);
    out.push_back(invitation(v.pass));
  }
  carry_on(out, now);
  return out;
}

course::actions course::left(const messages::client_left& x, instant now) {
  actions out;
  if (const auto found = clients_.find(x.client); found != clients_.end()) {
    if (std::exchange(found->second.present, false))
      ++(x.said ? leaves_ : losses_);
    found->second.has_left = x.said;
    if (x.said) // It is not waited for, whatever it has.
      found->second.remembers = {};
    look_for_missing(x.client, now);
  }
  if (const auto* at = candidate_of(x.client)) {
    clients_.at(x.client).known_as = *at;
    candidates_.erase(candidates_.begin() + (at - candidates_.data()));
    invitations_.roster_changed();
    invitations_.freed(x.client); // It loses its place, if it has one.
    changed_.push_back(x.client);
  }
  if (const auto found = clients_.find(x.client);
      found != clients_.end() && !found->second.open.empty()) {
    const auto& v = found->second.open.front();
    const auto visit = v.pass.visit;
    if (x.said) {
      if (!is_any_kept(v.parts)) { // Else its lines answer.
        out.push_back(messages::visit_withdrawn{visit});
        if (options_.strangers)
          came_to_nothing(x.client, now);
      }
      give_up(visit, now);
    } else {
      lost_.insert(visit); // Somebody else has its slot; its ticket is valid.
    }
  }
  if (is_in_last_visits() && (x.said || late_comers_are_lost_)
      && owed_.contains(x.client))
    wait_no_more_for(x.client, out);
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
    if (x.verdict != verdict::overloaded)
      will_not_come(x.visit, x.line, now);
  }
  if (x.verdict == verdict::accepted && !note_kept(x, out))
    return out;
  auto* found = find_open(x.visit);
  if (!found) {
    take_loose(x, now);
    if (is_kept(x.verdict))
      return out;
    settle(x.visit, x.line); // It may refuse what it had kept.
    carry_on(out, now);
    return out;
  }
  auto& v = *found;
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
  if (!is_any_kept(v.parts))
    refused(x, v.parts, out, now);
  close_visit(x.visit);
  carry_on(out, now);
  return out;
}

course::actions course::published(const messages::version_published& x,
                                  instant now) {
  actions out;
  heads_[x.line] = x.head;
  round_has_version_ |= x.round == round_.round;
  for (const auto& visit : x.merged) {
    note_gone(visit, x.line);
    auto& merged = clients_[visit.client].merged;
    if (merged.of(visit.number) == policies::visit_window::state::open) {
      merged.insert(visit.number);
      ++updates_;
    }
    if (auto* open = find_open(visit))
      open->merged.insert(x.line);
    list_no_more(visit, x.line);
    settle(visit, x.line);
  }
  refill_ = true;
  fruitless_ = fruitless_clients_ = dropped_ = 0;
  ++versions_seen_;
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

course::actions course::due(instant now) {
  actions out;
  look_at_visits(out, now);
  if (now >= loose_until_)
    drop_loose(out, now);
  carry_on(out, now);
  return out;
}

void course::carry_on(actions& out, instant now) {
  reckon(now);
  if (auto last = end_if_due(now); !last.empty()) {
    std::ranges::move(last, std::back_inserter(out));
    return;
  }
  if (finishing_) {
    if (told_ || ended_.size() < options_.lines.size())
      return;
    if (!last_visits_are_over(out, now)) {
      reckon(now);
      return save(out);
    }
    told_ = true;
    finishing_->reason += without_last_visit();
    finishing_->heads = heads_;
    finishing_->rounds = rounds_counted();
    out.push_back(*finishing_);
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
  reckon(now);
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
    out.push_back(invitation(*pass));
  }
  refill_ = false;
}

/// Whether one is reserved for the next invitation; else it is asked for.
bool course::has_index() {
  if (invitations_.made() < index_saved_)
    return true;
  index_asked_ = index_saved_ + indices_wanted();
  return false;
}

std::optional<messages::ticket> course::next_ticket(actions& out, instant now) {
  if (!has_index())
    return std::nullopt;
  reckon(now);
  const auto turn = invitations_.next(
    {.busy = [=, this](client_id x) { return is_busy(clients_.at(x), now); },
     .here = [this](client_id x) { return clients_.at(x).present; },
     .candidates = candidates_,
     .free = free_});
  for (const auto& x : invitations_.skips())
    out.push_back(skipped{x});
  return turn ? std::optional{ticket_of(*turn, now)} : std::nullopt;
}

messages::ticket course::ticket_of(const policies::choice& turn, instant now) {
  if (turn.index + limits::indices_reserved / 2 > index_saved_)
    index_asked_ = index_saved_ + indices_wanted();
  auto& entry = clients_.at(turn.client);
  const visit_id visit{turn.client, {++entry.number}};
  changed_.push_back(turn.client);
  if (auto* at = candidate_of(turn.client))
    ++at->times_chosen;
  if (entry.number + limits::numbers_reserved / 2 > entry.record.numbers_upto)
    unsaved_.insert(turn.client);
  // A last visit is of no round, and no version comes after what is there.
  const bool in_rounds = by_round(options_.mode) && !finishing_;
  const bool sync = options_.mode == pace_kind::sync;
  return {.visit = visit,
          .index = turn.index,
          .seed = turn.seed,
          .role = turn.role,
          .progress = policies::progress(options_.budget, spent(now)),
          .round = sync && in_rounds ? round_.round : round_number{},
          .cut = in_rounds ? round_number{rounds_} : no_cut,
          .expires_ns = (now + time_for_visit()).count()};
}

/// A cohort at least, or it would never be whole.
std::uint64_t course::indices_wanted() const {
  return std::max<std::uint64_t>(
    limits::indices_reserved,
    policies::cohort_size(options_.clients_per_round, options_.over_selection));
}

void course::open_visit_of(const messages::ticket& pass, instant now) {
  const auto client = pass.visit.client;
  auto& entry = clients_.at(client);
  changed_.push_back(client);
  ++open_count_;
  auto& v =
    entry.open.emplace_back(open_visit{.pass = pass,
                                       .parts = {},
                                       .again = now + options_.invitation_first,
                                       .wait = options_.invitation_first});
  set_alarm(pass.visit, v);
}

// Where it was is where it is, but for those who came or left before it.
policies::candidate* course::candidate_of(client_id x) {
  const auto entry = clients_.find(x);
  if (entry == clients_.end())
    return nullptr;
  auto& place = entry->second.place;
  if (place >= candidates_.size() || candidates_[place].client != x)
    place = static_cast<std::size_t>(
      std::ranges::lower_bound(candidates_, x, {}, &policies::candidate::client)
      - candidates_.begin());
  return place < candidates_.size() && candidates_[place].client == x
           ? &candidates_[place]
           : nullptr;
}

void course::offered(visit_id x, const open_visit& v, instant now) {
  auto& entry = clients_.at(x.client);
  messages::closed_visit what{x, {}};
  for (const auto& [line, verdict] : v.parts)
    if (is_kept(verdict))
      what.lines.push_back(line);
  if (options_.state == state_rule::on_accept)
    for (const auto& [line, verdict] : v.parts)
      if (verdict == verdict::accepted && !v.merged.contains(line)) {
        entry.unsettled.emplace(x, line);
        unsettled_.insert(x.client);
        changed_.push_back(x.client);
      }
  // What came too late says nothing of its client, and `why` says it.
  if (!what.lines.empty())
    forgive(x.client);
  const bool complete = what.lines.size() == v.parts.size();
  if (by_round(options_.mode) && !what.lines.empty()
      && (complete || options_.mode == pace_kind::semisync))
    offered_.insert({now, std::move(what)});
}

open_visit* course::find_open(visit_id x) {
  const auto found = clients_.find(x.client);
  if (found == clients_.end() || found->second.open.empty()
      || found->second.open.front().pass.visit != x)
    return nullptr;
  return &found->second.open.front();
}

void course::close_visit(visit_id x) {
  if (find_open(x)) {
    clients_.at(x.client).open.clear();
    --open_count_;
    changed_.push_back(x.client);
    drop_alarms();
  }
  lost_.erase(x);
}

void course::settle(visit_id x, line_id line) {
  if (!unsettled_.contains(x.client))
    return;
  auto& unsettled = clients_.at(x.client).unsettled;
  unsettled.erase({x, line});
  if (unsettled.empty()) {
    unsettled_.erase(x.client);
    changed_.push_back(x.client);
  }
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
