#include "policies/pacing.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace troupe::policies {

// Decision tables are in the header, where the compiler runs them.

TEST(cohort_size, rounds_up_and_is_never_below_what_is_needed) {
  EXPECT_EQ(cohort_size(10, 1), 10u);
  EXPECT_EQ(cohort_size(10, 0), 10u);
  EXPECT_EQ(cohort_size(10, 1.3), 13u);
  EXPECT_EQ(cohort_size(10, 1.21), 13u);
  EXPECT_EQ(cohort_size(100, 1.1), 110u);
}

TEST(decide, a_round_that_can_still_succeed_waits_until_its_deadline) {
  for (std::uint32_t n = 1; n < 6; ++n)
    for (std::uint32_t quorum = 1; quorum <= n; ++quorum)
      for (std::uint32_t complete = 0; complete < 7; ++complete)
        for (std::uint32_t open = 0; open < 7; ++open) {
          const round_limits limits{.clients_per_round = n, .quorum = quorum};
          const auto before =
            decide(limits, {.complete = complete, .still_open = open});
          const auto after = decide(limits, {.complete = complete,
                                             .still_open = open,
                                             .deadline_passed = true});
          // The deadline ends all waiting, and what was decided stays so.
          EXPECT_NE(after, round_decision::wait);
          if (before != round_decision::wait) {
            EXPECT_EQ(before, after);
          }
          EXPECT_EQ(after == round_decision::close, complete >= quorum);
          EXPECT_EQ(before == round_decision::wait,
                    complete < n && open > 0 && complete + open >= quorum);
        }
}

TEST(progress, never_falls_while_a_run_goes_on) {
  const budget of{.rounds = 20, .versions = 30, .updates = 100, .seconds = 9};
  double last = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const spent_budget spent{.rounds = i / 2,
                             .versions = i,
                             .updates = 2 * i,
                             .seconds = 0.2 * static_cast<double>(i)};
    EXPECT_GE(progress(of, spent), last);
    last = progress(of, spent);
    EXPECT_EQ(exhausted(of, spent), i >= 30);
  }
}

TEST(stopper, remembers_the_best_and_stops_when_patience_ends) {
  stopper testee{{.better = goal::lowest, .patience = 2}};
  EXPECT_TRUE(testee.observe(3).best);
  EXPECT_FALSE(testee.observe(4).best);
  const auto better = testee.observe(2);
  EXPECT_TRUE(better.best);
  EXPECT_EQ(better.stop, stop_reason::none);
  EXPECT_EQ(testee.observe(2).stop, stop_reason::none);
  EXPECT_EQ(testee.observe(2.5).stop, stop_reason::patience);
  EXPECT_EQ(testee.state().best, 2);
}

TEST(stopper, stops_at_the_target) {
  stopper up{{.better = goal::highest, .target = 0.8}};
  EXPECT_EQ(up.observe(0.79).stop, stop_reason::none);
  EXPECT_EQ(up.observe(0.8).stop, stop_reason::target);
  stopper down{{.better = goal::lowest, .target = 0.8}};
  EXPECT_EQ(down.observe(0.81).stop, stop_reason::none);
  EXPECT_EQ(down.observe(0.8).stop, stop_reason::target);
}

TEST(stopper, small_gains_do_not_count) {
  stopper testee{{.patience = 1, .improvement_min = 0.1}};
  EXPECT_EQ(testee.observe(0.5).stop, stop_reason::none);
  EXPECT_EQ(testee.observe(0.55).stop, stop_reason::patience);
  EXPECT_EQ(testee.state().best, 0.5);
}

TEST(stopper, what_is_no_number_is_never_best_and_uses_up_patience) {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  stopper testee{{.target = 0.8, .patience = 2}};
  EXPECT_FALSE(testee.observe(nan).best);
  EXPECT_EQ(testee.observe(nan).stop, stop_reason::patience);
  EXPECT_TRUE(testee.observe(0.1).best);
}

TEST(stopper, never_stops_without_a_rule_and_goes_on_from_its_state) {
  stopper testee;
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(testee.observe(0).stop, stop_reason::none);
  EXPECT_EQ(testee.state().since_best, 99u);
  stopper copy{{.patience = 100}, testee.state()};
  EXPECT_EQ(copy.observe(0).stop, stop_reason::patience);
}

} // namespace troupe::policies
