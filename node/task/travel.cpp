#include "node/task/travel.hpp"

#include <algorithm>
#include <set>

#include "core/random.hpp"
#include "policies/devices.hpp"

namespace troupe::node {

namespace {

std::uint64_t bytes_of(const models::fetched_block& x) {
  return sent_bytes(x.values);
}

std::uint64_t bytes_down(const models::visit_input& x) {
  std::uint64_t bytes = 0;
  for (const auto& y : x.fetched)
    bytes += bytes_of(y);
  return bytes;
}

/// An offer is taken to be as large as what was fetched; of a family with a
/// choice, as what was chosen.
std::uint64_t bytes_up(const models::visit_input& x,
                       const models::layout& blocks) {
  std::set<std::string_view> by_choice;
  for (const auto block : x.chosen)
    by_choice.insert(blocks.find(block)->family);
  std::uint64_t bytes = 0;
  for (const auto& y : x.fetched)
    if (!by_choice.contains(blocks.find(y.block)->family)
        || std::ranges::find(x.chosen, y.block) != x.chosen.end())
      bytes += bytes_of(y);
  return bytes;
}

} // namespace

std::function<instant(const models::visit_input&)>
durations_of(const experiment& x, const workload& w,
             std::shared_ptr<const models::trainer> steps) {
  return
    [devices = w.devices, links = x.network, seed = x.seed, blocks = w.blocks,
     offers = w.method.offers, steps](const models::visit_input& visit) {
      const auto client = visit.visit.client;
      const auto down = bytes_down(visit);
      const auto up = offers ? bytes_up(visit, *blocks) : 0;
      return from_seconds(
        policies::seconds_per_step(devices, seed, client)
          * static_cast<double>(steps->steps(visit))
        + policies::seconds_on_the_way(links, seed, client, down, up));
    };
}

std::function<bool(const models::visit_input&)>
drop_outs_of(const experiment& x) {
  if (x.devices.drop_out <= 0)
    return {};
  return [share = x.devices.drop_out](const models::visit_input& visit) {
    return random_stream{derive_seed(visit.seed, "drop_out")}.chance(share);
  };
}

} // namespace troupe::node
