// A whole node and its clients, with a recipe of two legs, on a network that loses,
// doubles, damages and cuts, with workers and a disk that fail, and crashes of
// everything. Then the world is kind, and the run must reach its end: every version
// is the merge of its offers to the bit, and nothing was merged twice.

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/support/sim/sim_node.hpp"

namespace troupe::test {

namespace {

scenario scenario_of(std::uint64_t seed) {
  random_stream draw{derive_seed(seed, "scenario")};
  scenario x;
  x.mode = static_cast<pace_kind>(seed % 4);
  x.state = seed % 3 == 0 ? state_rule::on_accept : state_rule::on_offer;
  x.clients = 10 + draw.below(4);
  x.versions = 5 + draw.below(4);
  x.concurrency = static_cast<std::uint32_t>(4 + draw.below(3));
  x.buffer_size = 2 + draw.below(3);
  x.refill_by_version = draw.chance(0.3);
  x.staleness_max = 1 + draw.below(4);
  x.pending_max = 4 + draw.below(6);
  if (x.mode == pace_kind::fedasync) {
    x.buffer_size = 1;
    x.target_is_model = true;
  }
  return x;
}

faults faults_of(std::uint64_t seed) {
  random_stream draw{derive_seed(seed, "faults")};
  faults x{.loss = 0.15 * draw.uniform(),
           .duplication = 0.1 * draw.uniform(),
           .corruption = 0.03,
           .truncation = 0.02,
           .partition = 0.01 * draw.uniform(),
           .job_failure = 0.05,
           .job_slowness = 0.03,
           .failure = 0.3 * draw.uniform(),
           .silence = 0.05,
           .node_crash = 0,
           .actor_crash = 0,
           .client_crash = 0,
           .delay_ms_max = 1 + draw.below(100)};
  // Not in every run: a restart forgets, and so would hide, what was wrong in memory.
  if (seed % 2 == 0) {
    x.node_crash = 0.0008;
    x.actor_crash = 0.0008;
    x.client_crash = 0.002;
  }
  return x;
}

std::uint64_t simulate(std::uint64_t seed, tally& happened) {
  SCOPED_TRACE("reproduce with TROUPE_SEED=" + std::to_string(seed));
  sim_node testee{seed, scenario_of(seed), faults_of(seed), happened};
  for (int i = 0; i < 6'000 && !testee.finished() && !testing::Test::HasFailure() && testee.step(); ++i)
    ;
  testee.heal();
  // Liveness: once the world is kind, everything gets through.
  const auto healed = testee.now();
  for (int i = 0; i < 300'000 && !testee.finished() && !testing::Test::HasFailure()
                  && testee.step(); ++i)
    ;
  if (testing::Test::HasFailure())
    for (const auto& [what, times] : happened)
      std::cout << "  " << what << ": " << times << std::endl;
  EXPECT_TRUE(testee.finished()) << "the run does not end: a livelock or a stall";
  EXPECT_LT(seconds(testee.now() - healed), 600) << "the run ends too late";
  if (testee.finished())
    testee.check_end();
  return testee.trace();
}

} // namespace

TEST(node_sim, every_version_is_the_merge_of_its_offers) {
  tally happened;
  if (const char* seed = std::getenv("TROUPE_SEED")) {
    std::cout << "trace " << simulate(std::strtoull(seed, nullptr, 10), happened)
              << '\n';
    for (const auto& [what, times] : happened)
      std::cout << "  " << what << ": " << times << '\n';
    return;
  }
  const char* last = std::getenv("TROUPE_SEEDS");
  const auto seeds = last ? std::strtoull(last, nullptr, 10) : 200;
  for (std::uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed)
    simulate(seed, happened);
  for (const auto& [what, times] : happened)
    std::cout << "  " << what << ": " << times << '\n';
}

TEST(node_sim, the_same_seed_is_the_same_run) {
  tally happened;
  EXPECT_EQ(simulate(7, happened), simulate(7, happened));
  EXPECT_NE(simulate(7, happened), simulate(8, happened));
}

} // namespace troupe::test
