#include "node/run/strangers.hpp"

#include <algorithm>
#include <string>

#include "models/embedder.hpp"
#include "models/families.hpp"
#include "models/strangers.hpp"

namespace troupe::node {

namespace {

/// What a leg brings of one family. What adapters stand on is of a file, which
/// whoever comes has, as a model of language is.
std::uint64_t brought_bytes(const fetch_spec& x, const workload& work) {
  const auto& frozen = work.task->frozen;
  if (frozen.contains(std::string{models::model_family})
      && (x.family == models::model_family
          || x.family == models::buffers_family))
    return 0;
  if (const auto found = frozen.find(x.family); found != frozen.end())
    return found->second->size() * sizeof(float);
  // Who has no block of its own needs nothing that is trained for others.
  if (!work.method.offers)
    return 0;
  const auto all = work.blocks->family(x.family);
  if (all.empty())
    return 0; // Buffers of a model that has none.
  const auto count = x.chosen && x.chosen_max > 0
                       ? std::min<std::uint64_t>(x.chosen_max, all.size())
                       : all.size();
  const auto& block = *work.blocks->find(all.front());
  return count * block.size * bytes_each(block.sent);
}

} // namespace

void put_costs_of_strangers(run_summary& to, const workload& work) {
  if (work.task->embedded)
    to.rows_embedded = work.task->embedded->made();
  if (!to.held_out || work.method.personal
      || models::has_own_statistics(work.method))
    return;
  std::uint64_t down = 0;
  for (const auto& leg : work.method.legs)
    for (const auto& fetch : leg.fetch)
      down += brought_bytes(fetch, work);
  std::uint64_t up = 0;
  for (const auto& said : work.method.disclosures)
    if (!said.chosen_of.empty())
      up += said.count_max;
  to.zero_shot_bytes_down = down;
  to.zero_shot_bytes_up = up * sizeof(double);
}

} // namespace troupe::node
