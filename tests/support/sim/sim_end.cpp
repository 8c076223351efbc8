// What must hold where a run has come to its end.

#include <chrono>
#include <cmath>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/sim/sim_parts.hpp"

namespace troupe::test {

using namespace std::chrono_literals;

// Whoever has a part in a version had one, or the run says how many had none.
void sim_node::check_last_visits() {
  auto& p = *p_;
  std::set<client_id> none;
  for (const auto& line : p.blocks->lines)
    for (const auto& version : p.store->line(line.id))
      for (const auto& visit : version.merged)
        if (!p.store->had_last().contains(visit.client))
          none.insert(visit.client);
  p.luck.happened["a client had no last visit"] += none.size();
  const auto said = reason().find(" had no last visit");
  EXPECT_EQ(said != std::string::npos, !none.empty()) << reason();
  if (!none.empty()) {
    EXPECT_NE(reason().find("; " + std::to_string(none.size()) + " client"),
              std::string::npos)
      << reason();
  }
}

void sim_node::check_end() {
  auto& p = *p_;
  EXPECT_FALSE(failed()) << reason();
  // The last answers are on their way; who has no session hears of it later.
  p.witness->listen_no_more(p.what.silence_max);
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
    const auto last = state->counters.find(last_visits);
    std::uint64_t mine = last == state->counters.end() ? 0 : last->second;
    EXPECT_TRUE(mine > 0 || !p.store->had_last().contains(who))
      << "of its last visit client " << who.value << " knows nothing";
    for (const auto& visit : p.vault->offered)
      mine += visit.client == who;
    EXPECT_LE(state->visits, mine) << "a visit is in a client's state twice";
  }
  if (!p.how.what.finish.value.empty())
    check_last_visits();
}

} // namespace troupe::test
