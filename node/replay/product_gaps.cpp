#include "node/replay/product_gaps.hpp"

#include <deque>
#include <limits>
#include <vector>

#include "models/adapters/adapter_factors.hpp"
#include "models/adapters/rank_prefix.hpp"
#include "models/families.hpp"

namespace troupe::node {

void note_product_gaps(const messages::merge_requested& x, const workload& w,
                       std::map<std::string, double>& to) {
  const auto& plan = w.task->adapters;
  for (const auto& block : x.blocks) {
    const auto& of = *w.blocks->find(block.block);
    if (!plan || of.family != models::adapter_family
        || block.rule.kind == merge_kind::product_svd) // It leaves none.
      continue;
    double total = 0;
    for (const auto& term : block.terms)
      total += term.weight;
    std::deque<std::vector<float>> whole; // What is in it stays where it is.
    std::vector<models::merged_offer> offers;
    for (const auto& term : block.terms)
      offers.push_back(
        {whole.emplace_back(models::padded(of, term, *block.base,
                                           std::numeric_limits<float>::max())),
         term.weight * term.discount / total});
    if (!offers.empty())
      to[of.name] = models::product_gap(*plan, offers);
  }
}

} // namespace troupe::node
