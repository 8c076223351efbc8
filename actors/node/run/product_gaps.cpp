#include "actors/node/run/product_gaps.hpp"

#include <algorithm>

#include "models/adapter_factors.hpp"
#include "models/procedures/families.hpp"

namespace troupe::node {

void note_product_gaps(const messages::merge_requested& x, const workload& w,
                       std::map<std::string, double>& to) {
  const auto& plan = w.task->adapters;
  for (const auto& block : x.blocks) {
    const auto& of = *w.blocks->find(block.block);
    if (!plan || of.family != models::adapter_family)
      continue;
    double total = 0;
    for (const auto& term : block.terms)
      total += term.weight;
    std::vector<models::merged_offer> offers;
    for (const auto& term : block.terms)
      if (term.delta->size() == plan->size()) // And no prefix of its ranks.
        offers.push_back({*term.delta, term.weight * term.discount / total});
    if (!offers.empty())
      to[of.name] = models::product_gap(*plan, offers);
  }
}

} // namespace troupe::node
