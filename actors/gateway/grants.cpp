#include "actors/gateway/grants.hpp"

#include <algorithm>
#include <utility>

#include "core/limits.hpp"

namespace troupe::actors {

using policies::verdict;

std::vector<line_id>
grants::lines_in(const std::map<line_id, service>& served) {
  std::vector<line_id> lines;
  for (const auto& [line, how] : served)
    lines.push_back(line);
  return lines;
}

grants::grants(const recipe& method, const models::layout& blocks,
               std::map<line_id, version> found, std::set<visit_id> arrived)
  : blocks_(&blocks),
    found_(std::move(found)),
    arrived_(std::move(arrived)),
    allowed_(method, blocks) {
  for (const auto& leg : method.legs) {
    auto& lines = legs_.emplace_back();
    for (const auto& want : leg.fetch)
      for (const auto block : blocks.family(want.family))
        lines.insert(blocks.find(block)->line);
  }
}

bool grants::invited(visit_id x, bool earlier) {
  auto [at, is_new] = newest_.try_emplace(x.client);
  auto& known = at->second;
  if (!is_new && x.number <= known.newest)
    return false;
  // What lies between two from before a restart may have been one, too.
  if (earlier)
    known.since = {x.number.value + 1};
  else if (is_new || known.newest < known.since)
    known.since = x.number;
  known.newest = x.number;
  known.serves = known.open = true;
  known.served.clear();
  return true;
}

void grants::came_back(client_id x) {
  if (const auto found = newest_.find(x); found != newest_.end())
    for (auto& [line, served] : found->second.served)
      served.again = {};
  if (const auto found = older_.find(x); found != older_.end())
    for (auto& [number, visit] : found->second)
      for (auto& [line, served] : visit.served)
        served.again = {};
}

bool grants::withdrawn(visit_id x) {
  shut(x);
  return policies::insert_once(withdrawn_, x);
}

bool grants::is_withdrawn(visit_id x) const {
  return policies::state_of(withdrawn_, x)
         == policies::visit_window::state::merged;
}

bool grants::shut(visit_id x) {
  if (auto* known = find(x))
    return known->newest == x.number && std::exchange(known->serves, false);
  // Above the newest one nobody was given a number: it is made up.
  const auto known = newest_.find(x.client);
  if (known != newest_.end() && known->second.newest < x.number)
    return false;
  auto* older = find_older(x);
  return older && std::exchange(older->serves, false);
}

void grants::ended(visit_id x) {
  shut(x);
  decline(x);
  if (auto* known = find(x))
    known->offered_to.erase(x.number);
  else if (auto* older = find_older(x))
    older->offered_to.clear();
}

std::vector<visit_id> grants::voided(client_id x) {
  const auto first = arrived_.lower_bound({x, visit_number{}});
  const auto last = std::find_if(first, arrived_.end(),
                                 [x](const auto& y) { return y.client != x; });
  std::vector<visit_id> out(first, last);
  arrived_.erase(first, last);
  if (const auto known = newest_.find(x); known != newest_.end()) {
    for (const auto& [number, parts] : known->second.offered_to)
      if (!parts.empty())
        out.push_back({x, number});
    const visit_id newest{x, known->second.newest};
    shut(newest);
    decline(newest);
  }
  if (const auto known = older_.find(x); known != older_.end())
    for (auto& [number, visit] : known->second) {
      visit.serves = visit.open = false;
      if (!visit.offered_to.empty())
        out.push_back({x, number});
    }
  return out;
}

bool grants::serve(messages::fetch_requested& x,
                   std::map<line_id, service>& served, instant now) {
  std::erase_if(x.wanted, [&](const messages::want& want) {
    const auto found = served.find(want.line);
    return found != served.end() && now < found->second.again;
  });
  for (const auto& want : x.wanted) {
    auto& of = served[want.line];
    if (of.times == serves_max)
      return false;
    of.twice |= of.times > 0;
    of.again = now + again_after * (1u << of.times++);
  }
  return true;
}

std::optional<grants::refusal> grants::fetch(messages::fetch_requested& x,
                                             instant now) {
  auto* known = find(x.pass.visit);
  if (known && (known->newest != x.pass.visit.number || !known->serves))
    return refusal{verdict::withdrawn, false};
  auto* older = known ? nullptr : find_older(x.pass.visit);
  if (!known && (!older || !older->serves))
    return refusal{verdict::withdrawn, false};
  std::set<line_id> once;
  for (const auto& want : x.wanted)
    if (!is_of_leg(want, x.leg) || !once.insert(want.line).second)
      return refusal{verdict::malformed, true};
  if (known ? !allowed_.may_fetch(x, lines_in(known->served))
            : !allowed_.may_go_on(x, lines_in(older->served)))
    return refusal{verdict::malformed, true};
  if (!serve(x, known ? known->served : older->served, now))
    return refusal{verdict::withdrawn, true};
  return std::nullopt;
}

void grants::is_served(const messages::line_served& x, bool queued) {
  const auto take = [&](std::map<line_id, service>& served) {
    const auto found = served.find(x.line);
    if (found == served.end())
      return;
    found->second.newest = std::max(found->second.newest, x.base);
    if (queued && found->second.times > 1)
      --found->second.times;
  };
  if (auto* known = find(x.visit)) {
    if (known->newest == x.visit.number)
      take(known->served);
  } else if (auto* older = find_older(x.visit)) {
    take(older->served);
  }
}

bool grants::is_first(const messages::offer_made& x) {
  const auto visit = x.pass.visit;
  if (const auto* known = find(visit))
    return known->newest == visit.number && known->open
           && known->offered.of(visit.number)
                == policies::visit_window::state::open;
  const auto* older = find_older(visit);
  return older && older->open && !older->offered && !stands_on_lost(x, *older);
}

tl::expected<grants::standing, verdict>
grants::offer(const messages::offer_made& x) {
  auto* known = find(x.pass.visit);
  if (!known)
    return offer_older(x);
  const auto number = x.pass.visit.number;
  if (known->offered.of(number) != policies::visit_window::state::open)
    return standing::again;
  if (known->newest != number || !known->open)
    return standing::over;
  if (!allowed_.is_to_offer(x.pass.role))
    return tl::make_unexpected(verdict::malformed);
  std::map<line_id, place> lines;
  for (const auto& y : x.blocks)
    if (const auto* block = blocks_->find(y.block)) {
      if (!known->served.contains(block->line))
        return tl::make_unexpected(verdict::malformed);
      lines.emplace(block->line, place::open);
    }
  if (!allowed_.is_of_request(x, lines_in(known->served)))
    return tl::make_unexpected(verdict::malformed);
  known->offered.insert(number);
  known->offered_to.emplace(number, std::move(lines));
  if (known->offered_to.size() > limits::outbox_offers_max)
    known->offered_to.erase(known->offered_to.begin());
  known->serves = known->open = false;
  known->served.clear();
  return standing::first;
}

bool grants::is_served_twice(visit_id x) const {
  const auto known = newest_.find(x.client);
  return known != newest_.end() && known->second.newest == x.number
         && std::ranges::any_of(known->second.served,
                                [](const auto& y) { return y.second.twice; });
}

std::set<line_id> grants::lines_of(const messages::offer_made& x) const {
  std::set<line_id> lines;
  for (const auto& part : x.blocks)
    if (const auto* block = blocks_->find(part.block))
      lines.insert(block->line);
  return lines;
}

bool grants::is_offered(visit_id x, line_id to) {
  auto* known = find(x);
  if (!known) {
    const auto* older = find_older(x);
    return older && older->offered_to.contains(to);
  }
  const auto visit = known->offered_to.find(x.number);
  return visit != known->offered_to.end() && visit->second.contains(to);
}

bool grants::note_answer(std::map<line_id, place>& parts, line_id by,
                         verdict what) {
  const auto part = parts.find(by);
  if (part == parts.end())
    return false;
  if (what == verdict::overloaded)
    return std::exchange(part->second, place::turned_away) == place::open;
  parts.erase(part);
  return what != verdict::accepted && what != verdict::duplicate;
}

bool grants::answered(visit_id x, line_id by, verdict what) {
  auto* known = find(x);
  if (!known) {
    // A line may have had it before the restart, and says so once.
    auto* older = find_older(x);
    if (older && older->offered_to.contains(by)) {
      older->refused_by.insert(by);
      return note_answer(older->offered_to, by, what);
    }
    return older && !older->offered && what != verdict::accepted
           && what != verdict::duplicate && what != verdict::overloaded
           && older->refused_by.insert(by).second;
  }
  const auto visit = known->offered_to.find(x.number);
  if (visit == known->offered_to.end())
    return false;
  const bool noted = note_answer(visit->second, by, what);
  if (visit->second.empty())
    known->offered_to.erase(visit);
  return noted;
}

bool grants::decline(visit_id x) {
  auto* known = find(x);
  if (!known) {
    auto* older = find_older(x);
    if (older)
      older->serves = false;
    return older && !older->awaited && std::exchange(older->open, false);
  }
  if (known->newest != x.number)
    return false;
  known->serves = false;
  return std::exchange(known->open, false);
}

grants::entry* grants::find(visit_id x) {
  const auto found = newest_.find(x.client);
  return found == newest_.end() || x.number < found->second.since
             || x.number > found->second.newest
           ? nullptr
           : &found->second;
}

bool grants::is_of_leg(const messages::want& x, std::uint32_t leg) const {
  if (leg >= legs_.size() || !legs_[leg].contains(x.line))
    return false;
  const auto& of = *blocks_->find(x.line);
  return std::ranges::all_of(
    of.blocks, [&](block_id y) { return x.rank <= blocks_->find(y)->rank; });
}

} // namespace troupe::actors
