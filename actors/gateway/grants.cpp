#include "actors/gateway/grants.hpp"

#include <algorithm>
#include <utility>

#include "core/limits.hpp"

namespace troupe::actors {

using policies::verdict;

namespace {

std::vector<line_id> lines_in(const auto& served) {
  std::vector<line_id> lines;
  for (const auto& [line, how] : served)
    lines.push_back(line);
  return lines;
}

} // namespace

grants::grants(const recipe& method, const models::layout& blocks,
               std::map<line_id, version> found)
  : blocks_(&blocks),
    found_(std::move(found)),
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
  serve_no_more(x);
  return policies::insert_once(withdrawn_, x);
}

void grants::serve_no_more(visit_id x) {
  if (auto* known = find(x)) {
    if (known->newest == x.number)
      known->serves = false;
  } else if (auto* older = find_older(x)) {
    older->serves = false;
  }
}

void grants::ended(visit_id x) {
  serve_no_more(x);
  decline(x);
  if (auto* known = find(x))
    known->offered_to.erase(x.number);
  else if (auto* older = find_older(x))
    older->offered_to.clear();
}

bool grants::is_unheard_of(visit_id x) {
  const auto* older = find(x) ? nullptr : find_older(x);
  return older && older->open && !older->awaited;
}

std::vector<visit_id> grants::voided(client_id x) {
  std::vector<visit_id> out;
  if (const auto known = newest_.find(x); known != newest_.end()) {
    for (const auto& [number, parts] : known->second.offered_to)
      if (!parts.empty())
        out.push_back({x, number});
    const visit_id newest{x, known->second.newest};
    serve_no_more(newest);
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

void grants::is_queued(visit_id x, line_id line) {
  const auto take_back = [&](std::map<line_id, service>& served) {
    const auto found = served.find(line);
    if (found != served.end() && found->second.times > 1)
      --found->second.times;
  };
  if (auto* known = find(x)) {
    if (known->newest == x.number)
      take_back(known->served);
  } else if (auto* older = find_older(x)) {
    take_back(older->served);
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

// What it was served since is of this process.
bool grants::stands_on_lost(const messages::offer_made& x,
                            const older_visit& who) const {
  const auto is_lost = [&](line_id line, version base) {
    const auto found = found_.find(line);
    return found != found_.end() && found->second < base
           && !who.served.contains(line);
  };
  return std::ranges::any_of(
           x.fetched, [&](const auto& y) { return is_lost(y.line, y.base); })
         || std::ranges::any_of(x.blocks, [&](const auto& y) {
              const auto* block = blocks_->find(y.block);
              return block && is_lost(block->line, y.base);
            });
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
grants::await(const messages::offer_awaited& x, bool is_ours) {
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
    out.push_back({visit, line, is_ours});
  return out;
}

messages::offer_awaited
grants::question_after(const messages::offer_made& x) const {
  const auto lines = lines_of(x);
  return {x.pass, {lines.begin(), lines.end()}};
}

bool grants::is_earlier(visit_id x) const {
  const auto found = older_.find(x.client);
  return found != older_.end() && found->second.contains(x.number);
}

bool grants::is_to_be_noted(visit_id x) {
  if (!is_earlier(x))
    return false;
  return !std::exchange(older_.at(x.client).at(x.number).noted, true);
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

std::vector<messages::line_served>
grants::fetched_for(const messages::offer_made& x) const {
  std::map<line_id, version> bases;
  for (const auto& part : x.blocks)
    if (const auto* block = blocks_->find(part.block))
      bases.emplace(block->line, part.base);
  for (const auto& [line, base] : x.fetched)
    bases.emplace(line, base);
  std::vector<messages::line_served> all;
  for (std::uint32_t leg = 0; leg < legs_.size(); ++leg)
    for (const auto& [line, base] : bases)
      if (legs_[leg].contains(line))
        all.push_back({.visit = x.pass.visit,
                       .leg = leg,
                       .line = line,
                       .base = base,
                       .blocks = {}});
  return all;
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

grants::older_visit* grants::find_older(visit_id x) {
  auto& of_client = older_[x.client];
  if (const auto found = of_client.find(x.number); found != of_client.end())
    return &found->second;
  return of_client.size() < older_max ? &of_client[x.number] : nullptr;
}

bool grants::is_of_leg(const messages::want& x, std::uint32_t leg) const {
  if (leg >= legs_.size() || !legs_[leg].contains(x.line))
    return false;
  const auto& of = *blocks_->find(x.line);
  return std::ranges::all_of(
    of.blocks, [&](block_id y) { return x.rank <= blocks_->find(y)->rank; });
}

} // namespace troupe::actors
