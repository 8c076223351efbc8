// What a run's rules make of its configuration.

#include <gtest/gtest.h>

#include "node/run/rules.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

node::experiment paced(const overrides& changes) {
  return configured(quadratic_run, changes, {});
}

} // namespace

// Who returns in the middle of a visit asks for the version that it began with.
TEST(rules, keep_what_visits_of_clients_that_live_on_may_be_based_on) {
  const auto loose = paced({"mode=fedbuff", "versions=9", "staleness_max=50"});
  EXPECT_EQ(node::versions_kept(loose, true), 52U);
  EXPECT_EQ(node::versions_kept(loose, false), 20U);
  const auto mixed = paced({"mode=fedasync", "versions=9", "staleness_max=50"});
  EXPECT_EQ(node::versions_kept(mixed, false), 52U);
  const auto rounds = paced({"mode=sync", "staleness_max=50"});
  EXPECT_EQ(node::versions_kept(rounds, true), 20U);
}

TEST(rules, invite_as_many_together_as_a_round_or_its_slots_take) {
  EXPECT_EQ(node::invited_together(paced(
              {"clients=10", "clients_per_round=4", "over_selection=1.5"})),
            6U);
  EXPECT_EQ(node::invited_together(paced(
              {"mode=fedbuff", "versions=9", "clients=10", "concurrency=3"})),
            3U);
}

} // namespace troupe::test
