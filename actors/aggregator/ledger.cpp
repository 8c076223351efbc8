#include "actors/aggregator/ledger.hpp"

#include <algorithm>
#include <iterator>

#include "actors/aggregator/of_client.hpp"
#include "core/assert.hpp"
#include "core/checksum.hpp"
#include "core/limits.hpp"
#include "policies/mixing.hpp"

namespace troupe::actors {

using policies::verdict;

namespace {

std::uint64_t content_of(const messages::part_offered& x) {
  checksum sum;
  sum.add(x.base.value);
  for (const auto& part : x.blocks) {
    sum.add(part.block.value);
    sum.add(std::uint64_t{part.rank});
    sum.add(part.weight);
    sum.add(std::span{*part.delta});
  }
  return sum.value();
}

} // namespace

ledger::ledger(options opts, durable found)
  : options_(std::move(opts)),
    found_(std::move(found)),
    done_round_(found_.round) {
  TROUPE_ASSERT(options_.buffer_size > 0);
  TROUPE_ASSERT(options_.buffer_size <= options_.admission.pending_max);
  TROUPE_ASSERT(options_.blocks.size() == found_.blocks.size());
  for (const auto& block : options_.blocks)
    offers_needed_ =
      std::max(offers_needed_, policies::offers_needed(block.merge));
  remember_head();
}

void ledger::pass(instant now) {
  // All of them together, without a list of who came when.
  waits_.seconds +=
    static_cast<double>(pending_.size()) * seconds(now - passed_);
  passed_ = now;
}

verdict ledger::judge(const messages::part_offered& x) const {
  const auto answer = policies::admit(
    options_.admission, {.visit = policies::state_of(found_.merged, x.visit),
                         .versions_behind = staleness(x.base, head()),
                         .pending = kept_.size()});
  // What is merged stays so, whoever asks when.
  if ((ended_ || x.late || dropped_.contains(x.visit))
      && answer != verdict::duplicate)
    return verdict::withdrawn;
  if (answer == verdict::duplicate)
    return answer;
  // The record has what was offered first.
  if (const auto before = turned_away_.find(x.visit);
      before != turned_away_.end() && before->second != content_of(x))
    return verdict::malformed;
  if (answer != verdict::accepted)
    return answer;
  if (head() < x.base)
    return verdict::malformed;
  // A round that is over takes nothing more; one that is closing only its list.
  // Visits of windows and buffers name no round.
  if (x.round.value > 0
      && (x.round <= done_round_
          || (closed_ && x.round == closed_->round && !is_listed(x.visit))))
    return verdict::withdrawn;
  if (has_bound()) {
    // Nor does its surplus take others' room.
    if (count_of(kept_, x.visit.client) >= limits::outbox_offers_max)
      return verdict::overloaded;
  }
  return verdict::accepted;
}

void ledger::offer(const messages::part_offered& x) {
  if (is_about_to_be_answered(x.visit))
    return;
  if (!kept_.contains(x.visit)) {
    if (const auto answer = judge(x); answer != verdict::accepted)
      return turn_away(x, answer);
    turned_away_.erase(x.visit);
    if (is_to_be_kept(x)) {
      kept_.insert(x.visit);
      files_[x.visit] = false;
      arriving_.emplace(x.visit, x);
      notices_.push_back(messages::keep_requested{x});
      return;
    }
  }
  receive(x);
}

// Of a client, as many as it may have unanswered.
void ledger::remember_turned_away(const messages::part_offered& x) {
  turned_away_.try_emplace(x.visit, content_of(x));
  forget_oldest(turned_away_, x.visit.client, limits::outbox_offers_max);
}

// Each by itself: a number that nobody gave ends no other.
void ledger::remember_dropped(visit_id x) {
  dropped_.insert(x);
  forget_oldest(dropped_, x.client, policies::visit_window::size);
}

void ledger::refuse(const messages::part_offered& x, verdict why) {
  settle(x.visit, why,
         messages::part_taken{x.visit, x.line, x.lines_total, why, x.loss});
}

void ledger::answer(visit_id visit, verdict what) {
  ++answers_[static_cast<std::size_t>(what)];
  notices_.push_back(
    messages::part_answered{visit, options_.line, what, head()});
}

line_status ledger::status() const {
  using step = line_status::step;
  return {.head = head(),
          .at = due_         ? step::storing
                : in_flight_ ? step::merging
                             : step::collecting,
          .pending = pending_.size(),
          .needed = options_.by_round ? 0 : options_.buffer_size,
          .pending_max = options_.admission.pending_max,
          .answers = answers_,
          .staleness = staleness_,
          .waits = waits_,
          .buffered = buffered_};
}

void ledger::close(const messages::round_closed& x) {
  if (x.round <= done_round_) {
    // The director restarted and did not know that this is done.
    notices_.push_back(messages::round_merged{options_.line, x.round, head()});
    return;
  }
  const bool under_way = closed_ && (in_flight_ || due_);
  if (under_way)
    return;
  closed_ = own_part_of(x);
  if (!x.keep_late)
    withdraw_pending(false);
  refuse_stale();
  say_held_back();
  if (std::ranges::none_of(closed_->visits,
                           [this](const auto& v) { return names_me(v); }))
    return finish_round();
  say_lacking();
}

bool ledger::is_listed(visit_id x) const {
  const auto at = std::ranges::lower_bound(closed_->visits, x, {},
                                           &messages::closed_visit::visit);
  return at != closed_->visits.end() && at->visit == x && names_me(*at);
}

bool ledger::names_me(const messages::closed_visit& x) const {
  return std::ranges::find(x.lines, options_.line) != x.lines.end();
}

void ledger::withdraw_pending(bool all) {
  pending_list rest;
  for (auto& x : pending_) {
    const bool stays = !all && (is_listed(x.visit) || closed_->round < x.round);
    if (stays) {
      rest.push_back(std::move(x));
      continue;
    }
    kept_.erase(x.visit);
    settle(x.visit, verdict::withdrawn);
  }
  pending_ = std::move(rest);
}

// With lists, only what is on one: another may name what is refused meanwhile,
// and would wait for it.
void ledger::refuse_stale() {
  pending_list rest;
  for (auto& x : pending_) {
    if (!is_past(x) || (options_.by_round && !is_listed(x.visit))) {
      rest.push_back(std::move(x));
      continue;
    }
    kept_.erase(x.visit);
    refuse(x, verdict::too_stale);
    if (closed_)
      for (auto& v : closed_->visits)
        if (v.visit == x.visit)
          std::erase(v.lines, options_.line);
  }
  pending_ = std::move(rest);
}

// Its parts may be said again, or come for the first time.
void ledger::drop(visit_id x) {
  if (closed_ && is_listed(x))
    return;
  const auto at =
    std::ranges::find(pending_, x, &messages::part_offered::visit);
  if (at == pending_.end() && kept_.contains(x) && !arriving_.contains(x))
    return; // It is being merged.
  remember_dropped(x);
  turned_away_.erase(x);
  if (at == pending_.end())
    return;
  kept_.erase(x);
  refuse(*at, verdict::withdrawn);
  pending_.erase(at);
}

void ledger::finish_round() {
  done_round_ = closed_->round;
  notices_.push_back(
    messages::round_merged{options_.line, closed_->round, head()});
  closed_.reset();
  say_held_back();
}

bool ledger::sums_over_clients() const {
  return std::ranges::any_of(options_.blocks, [](const auto& x) {
    return x.merge.kind == merge_kind::sum_over;
  });
}

void ledger::admitted(std::uint64_t clients) {
  found_.admitted = std::max(found_.admitted, clients);
}

bool ledger::batch_is_complete() const {
  if (!options_.by_round)
    return head() < options_.head_last
           && pending_.size() >= options_.buffer_size
           && next_batch().size() == options_.buffer_size;
  if (!closed_)
    return false;
  std::size_t listed = 0;
  for (const auto& v : closed_->visits)
    listed += names_me(v)
              && policies::state_of(found_.merged, v.visit)
                   == policies::visit_window::state::open;
  const auto here = std::ranges::count_if(
    pending_, [this](const auto& x) { return is_listed(x.visit); });
  return listed == static_cast<std::size_t>(here);
}

std::optional<ledger::request> ledger::next() {
  if (in_flight_)
    return std::nullopt;
  if (!due_) {
    if (ended_)
      return std::nullopt;
    if (const auto base = base_to_find()) {
      in_flight_ = true;
      return messages::version_wanted{options_.line, *base, {}};
    }
    if (const auto visit = values_to_read()) {
      in_flight_ = true;
      return messages::part_wanted{options_.line, *visit};
    }
    if (!batch_is_complete())
      return std::nullopt;
    take_batch();
    if (options_.by_round && merging_.size() < offers_needed_)
      withdraw_batch();
    if (merging_.empty()) {
      if (closed_) // All that it names is merged.
        finish_round();
      return std::nullopt;
    }
    in_flight_ = true;
    merged_over_ = sums_over_clients() ? found_.admitted : 0;
    return merge_of(options_, found_, merging_, history_);
  }
  in_flight_ = true;
  return *due_;
}

void ledger::take_batch() {
  std::map<client_id, std::size_t> has;
  const auto chosen = [&](const auto& x) {
    if (options_.by_round)
      return is_listed(x.visit);
    return merging_.size() < options_.buffer_size
           && (!has_bound() || has[x.visit.client]++ < options_.client_most);
  };
  pending_list rest;
  for (auto& x : pending_) {
    if (!chosen(x)) {
      rest.push_back(std::move(x));
    } else if (can_be_aimed(x)) {
      count_wait(x.visit);
      merging_.push_back(std::move(x));
    } else {
      kept_.erase(x.visit);
      refuse(x, verdict::malformed);
    }
  }
  pending_ = std::move(rest);
  std::ranges::sort(merging_, {}, &messages::part_offered::visit);
}

// Too few for the rule: this round has no version here.
void ledger::withdraw_batch() {
  for (const auto& x : merging_) {
    kept_.erase(x.visit);
    settle(x.visit, verdict::withdrawn);
  }
  merging_.clear();
}

void ledger::merged(const messages::merge_finished& x) {
  TROUPE_ASSERT(in_flight_ && !merging_.empty() && x.base == head());
  due_ = messages::commit_requested{.line = options_.line,
                                    .head = troupe::next(head()),
                                    .round =
                                      closed_ ? closed_->round : round_number{},
                                    .blocks = x.blocks,
                                    .merged = {},
                                    .admitted = merged_over_};
  for (const auto& part : merging_) {
    due_->merged.push_back(part.visit);
    staleness_.add(staleness(part.base, head()));
  }
  merging_.clear();
  in_flight_ = false;
}

void ledger::committed() {
  TROUPE_ASSERT(in_flight_ && due_);
  found_.head = due_->head;
  found_.round = due_->round;
  found_.blocks = due_->blocks;
  remember_head();
  for (const auto& visit : due_->merged) {
    found_.merged[visit.client].insert(visit.number);
    kept_.erase(visit);
    answer(visit, verdict::accepted);
  }
  forget_files(due_->merged);
  notices_.push_back(messages::version_published{
    .line = options_.line,
    .head = head(),
    .round = due_->round,
    .blocks = messages::without_moments(std::move(due_->blocks)),
    .merged = std::move(due_->merged)});
  due_.reset();
  in_flight_ = false;
  if (closed_)
    finish_round();
  if (!options_.by_round)
    refuse_stale();
}

void ledger::failed() {
  TROUPE_ASSERT(in_flight_);
  pending_.insert(pending_.begin(), std::move_iterator{merging_.begin()},
                  std::move_iterator{merging_.end()});
  merging_.clear();
  in_flight_ = false;
  if (ended_)
    withdraw_pending(true);
}

void ledger::end() {
  ended_ = true;
  turned_away_.clear();
  withdraw_pending(true);
  say_held_back();
}

std::vector<ledger::notice> ledger::take_notices() {
  if (ended_ && idle() && arriving_.empty() && leaving_.empty()
      && !std::exchange(end_told_, true))
    notices_.push_back(messages::line_ended{options_.line, head()});
  return std::exchange(notices_, {});
}

ledger::options ledger_options(const line_rules& rules,
                               const models::layout& blocks,
                               const models::line_layout& line) {
  ledger::options x{rules, line.id, {}};
  for (const auto id : line.blocks)
    x.blocks.push_back(*blocks.find(id));
  return x;
}

} // namespace troupe::actors
