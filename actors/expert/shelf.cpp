#include "actors/expert/shelf.hpp"

#include <algorithm>

#include "core/assert.hpp"
#include "models/adapters/rank_prefix.hpp"

namespace troupe::actors {

namespace {

constexpr std::size_t one = 1;

} // namespace

shelf::shelf(options opts, messages::version_published first) : options_(opts) {
  TROUPE_ASSERT(options_.versions_max > 0);
  versions_.push_back(std::move(first));
}

void shelf::add(const messages::version_published& x) {
  if (x.head <= head())
    return;
  versions_.push_back(x);
  versions_.back().merged.clear();
  std::size_t bytes = 0;
  for (const auto& block : x.blocks)
    bytes += block.values->size() * sizeof(float);
  const auto most = std::min(options_.versions_max,
                             1 + options_.bytes_max / std::max(bytes, one));
  while (versions_.size() > most)
    versions_.pop_front();
}

const messages::version_published*
shelf::pick(const messages::serve_requested& x) const {
  const bool named = x.wanted.exact != messages::no_version;
  for (auto i = versions_.rbegin(); i != versions_.rend(); ++i)
    if (named ? i->head == x.wanted.exact : i->round <= x.cut)
      return &*i;
  return nullptr;
}

// What is not here is older than what is, or there is no such version.
std::optional<messages::version_wanted>
shelf::lacks(const messages::serve_requested& x) const {
  const auto oldest = versions_.front().head;
  const bool named = x.wanted.exact != messages::no_version;
  if (pick(x) || oldest == version{} || (named && oldest < x.wanted.exact))
    return std::nullopt;
  return messages::version_wanted{options_.line, x.wanted.exact, x.cut};
}

messages::line_served shelf::serve(const messages::serve_requested& x,
                                   const models::layout& blocks) const {
  if (const auto* chosen = pick(x))
    return serve(x, *chosen, blocks);
  auto newest = x;
  newest.wanted.exact = messages::no_version;
  const auto* chosen = pick(newest);
  return serve(x, chosen ? *chosen : versions_.front(), blocks);
}

messages::line_served shelf::serve(const messages::serve_requested& x,
                                   const messages::version_published& chosen,
                                   const models::layout& blocks) const {
  messages::line_served answer{.visit = x.visit,
                               .leg = x.leg,
                               .line = options_.line,
                               .base = chosen.head,
                               .unchanged = 0,
                               .blocks = {}};
  if (x.wanted.held == chosen.head) {
    answer.unchanged = 1;
    return answer;
  }
  for (const auto& found : chosen.blocks) {
    const auto& block = *blocks.find(found.block);
    answer.blocks.push_back(
      {block.id,
       models::sent_of(
         block, models::take_prefix(block, x.wanted.rank, found.values))});
  }
  return answer;
}

} // namespace troupe::actors
