#include "actors/expert/shelf.hpp"

#include <algorithm>

#include "core/assert.hpp"
#include "models/adapters/rank_prefix.hpp"

namespace troupe::actors {

shelf::shelf(options opts, messages::version_published first) : options_(opts) {
  TROUPE_ASSERT(options_.versions_max > 0);
  versions_.push_back(std::move(first));
}

void shelf::add(const messages::version_published& x) {
  if (x.head <= head())
    return;
  versions_.push_back(x);
  versions_.back().merged.clear();
  while (versions_.size() > options_.versions_max)
    versions_.pop_front();
}

const messages::version_published&
shelf::pick(const messages::serve_requested& x) const {
  if (x.wanted.exact != messages::no_version) {
    const auto found = std::ranges::find(versions_, x.wanted.exact,
                                         &messages::version_published::head);
    if (found != versions_.end())
      return *found;
  }
  for (auto i = versions_.rbegin(); i != versions_.rend(); ++i)
    if (i->round <= x.cut)
      return *i;
  return versions_.front();
}

messages::line_served shelf::serve(const messages::serve_requested& x,
                                   const models::layout& blocks) const {
  const auto& chosen = pick(x);
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
  for (const auto& block : chosen.blocks)
    answer.blocks.push_back(
      {block.block, models::take_prefix(*blocks.find(block.block),
                                        x.wanted.rank, block.values)});
  return answer;
}

} // namespace troupe::actors
