#include "node/replay/outlook.hpp"

#include <algorithm>
#include <optional>
#include <variant>

namespace troupe::node {

using namespace actors;

namespace {

/// The visit that its client ends with this, if it does.
std::optional<visit_id> last_word_on(const recorded_event& x) {
  if (const auto* offer = std::get_if<offer_recorded>(&x))
    return offer->visit;
  const auto* failed = std::get_if<messages::visit_failed>(&x);
  if (!failed)
    return std::nullopt;
  const auto* why = std::get_if<messages::decline_reason>(&failed->why);
  const bool said = why
                    && (*why == messages::decline_reason::no_offer
                        || *why == messages::decline_reason::dropped);
  return said ? std::optional{failed->visit} : std::nullopt;
}

/// Of a visit that its client may never have begun, too.
bool is_over_and_no_more(const recorded_event& x) {
  const auto* failed = std::get_if<messages::visit_failed>(&x);
  if (!failed)
    return false;
  const auto* why = std::get_if<messages::decline_reason>(&failed->why);
  return why && *why == messages::decline_reason::dropped;
}

/// The visit that its client did not begin, since it had another.
std::optional<visit_id> turned_down_in(const recorded_event& x) {
  const auto* failed = std::get_if<messages::visit_failed>(&x);
  if (!failed)
    return std::nullopt;
  const auto* why = std::get_if<messages::decline_reason>(&failed->why);
  const bool busy = why && *why == messages::decline_reason::busy;
  return busy ? std::optional{failed->visit} : std::nullopt;
}

/// Nothing where an event is of no visit.
std::optional<visit_id> visit_in(const recorded_event& x) {
  return std::visit(
    [](const auto& y) -> std::optional<visit_id> {
      if constexpr (requires { y.visit; })
        return y.visit;
      if constexpr (requires { y.pass.visit; })
        return y.pass.visit;
      return std::nullopt;
    },
    x);
}

} // namespace

void outlook::note(const recorded_event& x) {
  if (std::holds_alternative<process_began>(x)) {
    ++processes_;
  } else if (const auto* made = std::get_if<messages::invitation_made>(&x)) {
    if (const auto& visit = made->pass.visit; is_begun(visit))
      invited_[visit.client].try_emplace(visit.number, false);
    begun_[made->pass.visit].made = *made;
  } else if (const auto* served = std::get_if<messages::line_served>(&x)) {
    note_fetch(*served);
  } else if (const auto* over = std::get_if<messages::visit_withdrawn>(&x)) {
    withdrawn_.insert(over->visit);
  } else if (const auto word = last_word_on(x)) {
    note_word(*word, x);
  } else if (const auto other = turned_down_in(x)) {
    note_not_begun(*other);
  }
  if (processes_ < 2)
    return;
  if (const auto* version = std::get_if<version_recorded>(&x))
    for (const auto& visit : version->merged)
      answers_.emplace(visit, version->line);
  else if (const auto* answer = std::get_if<messages::part_answered>(&x))
    answers_.emplace(answer->visit, answer->line);
}

void outlook::note_word(visit_id of, const recorded_event& x) {
  if (!is_over_and_no_more(x))
    note_heard_of(of);
  auto& invited = invited_[of.client];
  const bool later = !invited.empty() && of.number < invited.rbegin()->first;
  if (!invited.empty()) // The newest one stays.
    invited.erase(invited.begin(), invited.lower_bound(std::min(
                                     of.number, invited.rbegin()->first)));
  const bool crossed = withdrawn_.erase(of) != 0;
  auto begun = begun_.extract(of);
  if (!begun || begun.mapped().made.pass.visit != of || (!crossed && !later))
    return;
  begun.mapped().word = x;
  late_[of.client].try_emplace(of.number, std::move(begun.mapped()));
}

void outlook::note_not_begun(visit_id x) {
  const auto begun = begun_.find(x);
  if (begun == begun_.end() || !begun->second.fetched.empty())
    return;
  not_begun_.insert(x);
  invited_[x.client].erase(x.number);
}

void outlook::note_heard_of(visit_id x) {
  auto& invited = invited_[x.client];
  if (not_begun_.erase(x) != 0 || invited.contains(x.number))
    invited[x.number] = true;
}

void outlook::note_fetch(const messages::line_served& x) {
  note_heard_of(x.visit);
  // It is at this visit, and at no later one of which nothing was heard so far.
  const auto& invited = invited_[x.visit.client];
  for (auto at = invited.upper_bound(x.visit.number); at != invited.end(); ++at)
    if (!at->second)
      not_begun_.insert({x.visit.client, at->first});
  ++fetches_[{x.line, x.base}];
  auto& fetched = begun_[x.visit].fetched;
  std::erase_if(
    fetched, [&](const auto& y) { return y.leg == x.leg && y.line == x.line; });
  fetched.push_back(x);
}

void outlook::pass(const recorded_event& x) {
  if (const auto* served = std::get_if<messages::line_served>(&x)) {
    const auto found = fetches_.find({served->line, served->base});
    if (found != fetches_.end() && --found->second == 0)
      fetches_.erase(found);
  } else if (const auto word = last_word_on(x)) {
    if (const auto late = late_.find(word->client); late != late_.end())
      late->second.erase(word->number);
  }
}

std::vector<outlook::late_visit> outlook::take_before(const recorded_event& x) {
  std::vector<late_visit> taken;
  const auto visit = visit_in(x);
  // What it turns down it has not met.
  const auto found =
    visit && is_begun(*visit) ? late_.find(visit->client) : late_.end();
  if (found == late_.end())
    return taken;
  auto& late = found->second;
  const auto end = std::holds_alternative<messages::visit_withdrawn>(x)
                     ? late.upper_bound(visit->number)
                     : late.lower_bound(visit->number);
  for (auto at = late.begin(); at != end; at = late.erase(at))
    taken.push_back(std::move(at->second));
  return taken;
}

} // namespace troupe::node
