#include "node/replay/product_gaps.hpp"

#include <deque>
#include <limits>
#include <vector>

#include "models/adapters/adapter_factors.hpp"
#include "models/adapters/rank_prefix.hpp"
#include "models/families.hpp"

namespace troupe::node {

namespace {

/// Of adapters that are averaged as factors beside others, too; null: of none.
const models::adapter_plan* plan_of(const models::block_layout& block,
                                    const models::local_task& task) {
  if (!task.adapters)
    return nullptr;
  if (block.family == models::adapter_family)
    return &*task.adapters;
  if (block.family == models::attention_family && task.inside
      && task.inside->attention)
    return &*task.inside->attention;
  return nullptr;
}

} // namespace

void note_product_gaps(const messages::merge_requested& x, const workload& w,
                       std::map<std::string, double>& to) {
  for (const auto& block : x.blocks) {
    const auto& of = *w.blocks->find(block.block);
    const auto* plan = plan_of(of, *w.task);
    if (plan == nullptr
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
