// Visits from before a restart: what was said on them then is not known.

#include <algorithm>
#include <utility>

#include "actors/gateway/grants.hpp"

namespace troupe::actors {

using policies::verdict;

// What it was served since is of this process.
bool grants::stands_on_lost(const messages::offer_made& x,
                            const older_visit& who) const {
  const auto is_lost = [&](line_id line, version base) {
    const auto found = found_.find(line);
    const auto since = who.served.find(line);
    return found != found_.end() && found->second < base
           && (since == who.served.end() || since->second.newest < base);
  };
  return std::ranges::any_of(
           x.fetched, [&](const auto& y) { return is_lost(y.line, y.base); })
         || std::ranges::any_of(x.blocks, [&](const auto& y) {
              const auto* block = blocks_->find(y.block);
              return block && is_lost(block->line, y.base);
            });
}

// What it fetched before is not known.
tl::expected<grants::standing, verdict>
grants::offer_older(const messages::offer_made& x) {
  auto* older = find_older(x.pass.visit);
  if (older && older->offered)
    return standing::again;
  if (!older || !older->open)
    return standing::over;
  if (stands_on_lost(x, *older)) {
    older->serves = older->open = false;
    return standing::lost;
  }
  if (!allowed_.is_to_offer(x.pass.role))
    return tl::make_unexpected(verdict::malformed);
  const auto lines = lines_of(x);
  if (!allowed_.may_offer(x, std::vector(lines.begin(), lines.end()),
                          lines_in(older->served)))
    return tl::make_unexpected(verdict::malformed);
  for (const auto line : lines)
    older->offered_to.emplace(line, place::open);
  older->offered = true;
  older->serves = older->open = false;
  return standing::first;
}

std::vector<messages::part_awaited>
grants::await(const messages::offer_awaited& x) {
  const auto visit = x.pass.visit;
  std::set<line_id> lines;
  for (const auto line : x.lines)
    if (blocks_->find(line))
      lines.insert(line);
  // What it still has values of comes in an offer, which may come behind this.
  if (auto* older = find(visit) ? nullptr : find_older(visit);
      older && !older->awaited && !older->offered) {
    for (const auto line : lines)
      older->offered_to.emplace(line, place::open);
    older->awaited = true;
    older->serves = false;
  }
  std::vector<messages::part_awaited> out;
  for (const auto line : lines)
    out.push_back({visit, line});
  return out;
}

bool grants::lines_may_have(const messages::offer_made& x) {
  if (find(x.pass.visit))
    return false;
  const auto* older = find_older(x.pass.visit);
  return !older || !stands_on_lost(x, *older);
}

bool grants::is_earlier(visit_id x) {
  const auto found = older_.find(x.client);
  return !find(x) && found != older_.end() && found->second.contains(x.number);
}

bool grants::is_to_be_noted(visit_id x) {
  if (!is_earlier(x))
    return false;
  return !std::exchange(older_.at(x.client).at(x.number).noted, true);
}

std::vector<messages::line_served>
grants::fetched_for(const messages::offer_made& x) {
  const auto* known = find(x.pass.visit);
  if (known && !is_served_twice(x.pass.visit))
    return {};
  const auto can_be = [&](line_id line, version base) {
    if (!known) // See `stands_on_lost`.
      return true;
    const auto served = known->served.find(line);
    return served != known->served.end() && base <= served->second.newest;
  };
  std::map<line_id, version> bases;
  for (const auto& part : x.blocks)
    if (const auto* block = blocks_->find(part.block))
      bases.emplace(block->line, part.base);
  for (const auto& [line, base] : x.fetched)
    bases.emplace(line, base);
  std::vector<messages::line_served> all;
  for (std::uint32_t leg = 0; leg < legs_.size(); ++leg)
    for (const auto& [line, base] : bases)
      if (legs_[leg].contains(line) && can_be(line, base))
        all.push_back({.visit = x.pass.visit,
                       .leg = leg,
                       .line = line,
                       .base = base,
                       .blocks = {}});
  return all;
}

grants::older_visit* grants::find_older(visit_id x) {
  auto& of_client = older_[x.client];
  if (const auto found = of_client.find(x.number); found != of_client.end())
    return &found->second;
  return of_client.size() < older_max ? &of_client[x.number] : nullptr;
}

} // namespace troupe::actors
