// What must hold where a run has come to its end.

#include <chrono>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/sim/sim_parts.hpp"

namespace troupe::test {

using namespace std::chrono_literals;

void sim_node::check_end() {
  auto& p = *p_;
  EXPECT_FALSE(failed()) << reason();
  // The last answers are on their way; who has no session hears of it later.
  p.witness->listen_no_more();
  for (const auto until = now() + 2s; now() < until && p.w.step();)
    ;
  p.witness->check_end();
  if (auto* links = p.network->links())
    links->check_end();
  for (const auto& visit : p.vault->dropped)
    for (const auto& line : p.blocks->lines)
      EXPECT_FALSE(p.store->holds(line.id, visit))
        << "merged, and its client did not offer it";
  p.luck.happened["a closed list was struck"] += p.store->lists_struck();
  p.luck.happened["older version read"] += p.store->times_read();
  p.luck.happened["values were let go of"] += p.vault->let_go;
  if (const auto* disk = p.store->waiting()) {
    p.luck.happened["an offer is read from the disk"] += disk->times_read();
    p.luck.happened["a node finds an offer on the disk"] += disk->times_found();
    p.luck.happened["an offer that a node found is merged"] +=
      p.store->found_merged();
  }
  p.luck.happened["timer before mail"] += p.w.overtaken();
  const auto lead = p.blocks->lead();
  if (p.how.lead_is_pulled && lead && p.store->head(*lead).value >= 4) {
    const auto& first = p.store->line(*lead).back().blocks.front();
    for (const float v : *first.values)
      EXPECT_LT(std::abs(v - optimum_of(first.block)), 0.6f)
        << "nothing was learned: " << v << " after "
        << p.store->head(*lead).value << " versions";
  }
  for (const auto& [who, state] : p.vault->states()) {
    std::uint64_t mine = 0;
    for (const auto& visit : p.vault->offered)
      mine += visit.client == who;
    EXPECT_LE(state->visits, mine) << "a visit is in a client's state twice";
  }
}

} // namespace troupe::test
