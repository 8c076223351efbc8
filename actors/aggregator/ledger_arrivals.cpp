// Offers that wait on disk, and what is said when they are there or gone.

#include <algorithm>
#include <numeric>
#include <utility>

#include "actors/aggregator/ledger.hpp"

namespace troupe::actors {

using policies::verdict;

namespace {

/// What of a part is in memory.
std::uint64_t values_bytes(const messages::part_offered& x) {
  std::uint64_t bytes = 0;
  for (const auto& block : x.blocks)
    bytes += block.delta ? block.delta->size() * sizeof(float) : 0;
  return bytes;
}

} // namespace

// Where models are mixed one offer makes a version: it is read before that.
bool ledger::is_to_be_kept(const messages::part_offered& x) const {
  return options_.spools && (options_.durable_offers || !fits(x));
}

bool ledger::fits(const messages::part_offered& x) const {
  const auto add = [](std::uint64_t sum, const auto& y) {
    return sum + values_bytes(y);
  };
  const auto held =
    std::accumulate(pending_.begin(), pending_.end(), std::uint64_t{0}, add)
    + std::accumulate(merging_.begin(), merging_.end(), std::uint64_t{0}, add);
  return held + values_bytes(x) <= options_.values_bytes_max;
}

/// It waits from now on, if it did not.
void ledger::receive(messages::part_offered x) {
  say_held(x.visit);
  notices_.push_back(messages::part_taken{x.visit, x.line, x.lines_total,
                                          verdict::accepted, x.loss,
                                          messages::is_without_values(x)});
  if (!kept_.insert(x.visit).second)
    return;
  since_[x.visit] = passed_;
  pending_.push_back(std::move(x));
  ++waits_.count;
}

/// It goes to a merge; to another one if that fails, which does not count.
void ledger::count_wait(visit_id x) {
  if (const auto since = since_.extract(x))
    buffered_.add(seconds(passed_ - since.mapped()));
}

void ledger::say_held(visit_id x) {
  if (options_.says_held)
    notices_.push_back(messages::part_held{
      x, options_.line,
      options_.durable_offers && files_.contains(x) && files_.at(x)});
}

bool ledger::is_here(visit_id x) const {
  return kept_.contains(x) && !arriving_.contains(x);
}

// What came after its director had struck it is here: it is not given up.
messages::round_closed ledger::own_part_of(messages::round_closed x) const {
  std::erase_if(x.visits, [this](const auto& v) { return !names_me(v); });
  if (closed_ && closed_->round == x.round)
    for (const auto& v : closed_->visits)
      if (names_me(v) && is_here(v.visit))
        x.visits.push_back(v);
  std::ranges::sort(x.visits, {}, &messages::closed_visit::visit);
  const auto alike = [](const auto& a, const auto& b) {
    return a.visit == b.visit;
  };
  x.visits.erase(std::unique(x.visits.begin(), x.visits.end(), alike),
                 x.visits.end());
  return x;
}

// After a restart: what is on the disk was taken up, and the rest must be said
// again by its client, unless that has let go of it.
void ledger::say_lacking() {
  using state = policies::visit_window::state;
  messages::parts_lacked all{options_.line, closed_->round, {}};
  for (const auto& x : closed_->visits) {
    const bool is_merged =
      policies::state_of(found_.merged, x.visit) != state::open;
    if (!names_me(x) || is_merged || is_here(x.visit))
      continue;
    all.visits.push_back(x.visit);
    if (dropped_.contains(x.visit))
      all.refused.push_back(x.visit);
  }
  if (!all.visits.empty())
    notices_.push_back(std::move(all));
}

void ledger::turn_away(const messages::part_offered& x, verdict why) {
  if (why != verdict::duplicate && why != verdict::withdrawn)
    remember_turned_away(x);
  refuse(x, why);
}

void ledger::kept(visit_id x) {
  auto part = arriving_.extract(x);
  if (!part)
    return;
  files_[x] = true;
  kept_.erase(x); // For judgement, which counts what is kept.
  auto& y = part.mapped();
  // A round may have closed meanwhile, or its base become too old.
  if (const auto answer = judge(y); answer != verdict::accepted)
    return turn_away(y, answer);
  if (!fits(y))
    for (auto& block : y.blocks)
      block.delta = nullptr;
  receive(std::move(y));
}

// What fits is held all the same, and its client keeps it.
void ledger::not_kept(visit_id x) {
  auto part = arriving_.extract(x);
  if (!part)
    return;
  kept_.erase(x);
  auto& y = part.mapped();
  auto answer = judge(y);
  if (answer == verdict::accepted && !fits(y))
    answer = verdict::overloaded;
  if (answer != verdict::accepted)
    return turn_away(y, answer);
  receive(std::move(y));
}

void ledger::settle(visit_id visit, verdict what,
                    std::optional<messages::part_taken> also) {
  since_.erase(visit);
  if (files_.contains(visit)) {
    leaving_[visit] = {.unsaid = what, .also = also};
    notices_.push_back(messages::drop_requested{options_.line, {visit}});
    return;
  }
  say_refusal(visit, what);
  if (also)
    notices_.push_back(*also);
}

// Its client lets go of it then, and of a list of before nobody else knows that
// it is refused: the shorter one is durable first.
bool ledger::is_to_be_struck(visit_id x) const {
  return !ended_ && closed_ && closed_->again && is_listed(x);
}

void ledger::say_refusal(visit_id x, verdict what) {
  const bool is_final =
    what != verdict::overloaded && what != verdict::duplicate;
  if (is_final && is_to_be_struck(x))
    held_back_[x] = what;
  else
    answer(x, what);
}

void ledger::say_held_back() {
  std::erase_if(held_back_, [this](const auto& x) {
    if (is_to_be_struck(x.first))
      return false;
    answer(x.first, x.second);
    return true;
  });
}

void ledger::dropped(const std::vector<visit_id>& visits) {
  for (const auto& visit : visits) {
    const auto left = leaving_.extract(visit);
    if (!left)
      continue;
    files_.erase(visit);
    if (const auto& what = left.mapped().unsaid)
      say_refusal(visit, *what);
    if (left.mapped().also)
      notices_.push_back(*left.mapped().also);
  }
}

void ledger::not_dropped(const std::vector<visit_id>& visits) {
  for (const auto& visit : visits)
    if (const auto found = leaving_.find(visit); found != leaving_.end())
      found->second.asked = false;
}

void ledger::drop_again() {
  messages::drop_requested all{options_.line, {}};
  for (auto& [visit, x] : leaving_)
    if (!std::exchange(x.asked, true))
      all.visits.push_back(visit);
  if (!all.visits.empty())
    notices_.push_back(std::move(all));
}

// The version says that they are merged: a file that stays behind is found by
// the next process, which drops it.
void ledger::forget_files(const std::vector<visit_id>& visits) {
  messages::drop_requested all{options_.line, {}};
  for (const auto& visit : visits)
    if (files_.contains(visit)) {
      leaving_[visit] = {};
      all.visits.push_back(visit);
    }
  if (!all.visits.empty())
    notices_.push_back(std::move(all));
}

void ledger::take_up(std::vector<messages::part_offered> found) {
  for (auto& x : found) {
    files_[x.visit] = true;
    const auto answer = judge(x);
    if (answer == verdict::duplicate)
      forget_files({x.visit});
    else if (answer != verdict::accepted)
      refuse(x, answer);
    else
      receive(std::move(x));
  }
}

bool ledger::is_about_to_be_answered(visit_id x) const {
  const auto found = leaving_.find(x);
  return arriving_.contains(x) || held_back_.contains(x)
         || (found != leaving_.end() && found->second.unsaid);
}

void ledger::await(visit_id x) {
  using state = policies::visit_window::state;
  if (is_about_to_be_answered(x))
    return;
  if (kept_.contains(x))
    return say_held(x);
  const auto merged = policies::state_of(found_.merged, x);
  if (merged != state::open)
    return answer(x, merged == state::merged ? verdict::duplicate
                                             : verdict::too_stale);
  // Nor is a copy with values, if one comes.
  remember_dropped(x);
  say_refusal(x, verdict::withdrawn);
  if (closed_ && is_listed(x))
    notices_.push_back(
      messages::parts_lacked{options_.line, closed_->round, {x}, {x}});
}

/// Where models are mixed their values are needed before a merge.
std::optional<visit_id> ledger::values_to_read() const {
  if (!options_.target_is_model)
    return std::nullopt;
  for (const auto at : next_batch())
    if (messages::is_without_values(pending_[at]))
      return pending_[at].visit;
  return std::nullopt;
}

void ledger::found(const messages::part_offered& x) {
  in_flight_ = false;
  const auto at =
    std::ranges::find(pending_, x.visit, &messages::part_offered::visit);
  if (at != pending_.end())
    at->blocks = x.blocks;
}

} // namespace troupe::actors
