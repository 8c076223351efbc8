#include "actors/gateway/grants.hpp"

#include <algorithm>
#include <utility>

#include "core/limits.hpp"

namespace troupe::actors {

using policies::verdict;

grants::grants(const recipe& method, const models::layout& blocks)
  : blocks_(&blocks) {
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
  known.legs = 0;
  known.served.clear();
  return true;
}

void grants::came_back(client_id x) {
  if (const auto found = newest_.find(x); found != newest_.end())
    for (auto& [line, served] : found->second.served)
      served.again = {};
}

void grants::withdrawn(visit_id x) {
  if (auto* known = find(x); known && known->newest == x.number)
    known->serves = false;
}

void grants::ended(visit_id x) {
  withdrawn(x);
  decline(x);
  if (auto* known = find(x))
    known->offered_to.erase(x.number);
}

std::optional<grants::refusal> grants::fetch(messages::fetch_requested& x,
                                             instant now) {
  auto* known = find(x.pass.visit);
  if (known && (known->newest != x.pass.visit.number || !known->serves))
    return refusal{verdict::withdrawn, false};
  std::set<line_id> once;
  for (const auto& want : x.wanted)
    if (!is_of_leg(want, x.leg) || !once.insert(want.line).second)
      return refusal{verdict::malformed, true};
  if (!known)
    return std::nullopt;
  if (x.leg > known->legs)
    return refusal{verdict::malformed, true};
  std::erase_if(x.wanted, [&](const messages::want& want) {
    const auto found = known->served.find(want.line);
    return found != known->served.end() && now < found->second.again;
  });
  for (const auto& want : x.wanted) {
    auto& served = known->served[want.line];
    if (served.times == serves_max)
      return refusal{verdict::withdrawn, true};
    served.again = now + again_after * (1u << served.times++);
  }
  known->legs = std::max(known->legs, x.leg + 1);
  return std::nullopt;
}

tl::expected<grants::standing, verdict>
grants::offer(const messages::offer_made& x) {
  auto* known = find(x.pass.visit);
  if (!known)
    return standing::first;
  const auto number = x.pass.visit.number;
  if (known->offered.of(number) != policies::visit_window::state::open)
    return standing::again;
  if (known->newest != number || !known->open)
    return standing::over;
  std::map<line_id, place> lines;
  for (const auto& y : x.blocks)
    if (const auto* block = blocks_->find(y.block)) {
      if (!known->served.contains(block->line))
        return tl::make_unexpected(verdict::malformed);
      lines.emplace(block->line, place::open);
    }
  known->offered.insert(number);
  known->offered_to.emplace(number, std::move(lines));
  if (known->offered_to.size() > limits::outbox_offers_max)
    known->offered_to.erase(known->offered_to.begin());
  known->serves = known->open = false;
  known->served.clear();
  return standing::first;
}

bool grants::is_offered(visit_id x, line_id to) {
  auto* known = find(x);
  if (!known)
    return true;
  const auto visit = known->offered_to.find(x.number);
  return visit != known->offered_to.end() && visit->second.contains(to);
}

bool grants::answered(visit_id x, line_id by, verdict what) {
  const bool refuses = what != verdict::accepted && what != verdict::duplicate;
  auto* known = find(x);
  if (!known)
    return refuses;
  const auto visit = known->offered_to.find(x.number);
  if (visit == known->offered_to.end())
    return false;
  const auto part = visit->second.find(by);
  if (part == visit->second.end())
    return false;
  if (what == verdict::overloaded)
    return std::exchange(part->second, place::turned_away) == place::open;
  visit->second.erase(part);
  if (visit->second.empty())
    known->offered_to.erase(visit);
  return refuses;
}

bool grants::decline(visit_id x) {
  auto* known = find(x);
  if (!known)
    return true;
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
