#include "policies/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace troupe::policies {

class rate_schedule_test : public testing::TestWithParam<rate_schedule> {};

TEST_P(rate_schedule_test, begins_with_the_whole_rate) {
  EXPECT_EQ(rate_factor(GetParam(), 0), 1);
}

TEST_P(rate_schedule_test, never_grows_and_never_turns_around) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_LE(rate_factor(GetParam(), (i + 1) / 1000.0),
              rate_factor(GetParam(), i / 1000.0));
    ASSERT_GE(rate_factor(GetParam(), i / 1000.0), 0);
  }
}

TEST_P(rate_schedule_test, stays_at_its_ends_outside_of_the_run) {
  EXPECT_EQ(rate_factor(GetParam(), -1), rate_factor(GetParam(), 0));
  EXPECT_EQ(rate_factor(GetParam(), 7), rate_factor(GetParam(), 1));
}

INSTANTIATE_TEST_SUITE_P(
  all, rate_schedule_test,
  testing::Values(constant_schedule{}, cosine_schedule{},
                  cosine_schedule{.last = 0.1}, step_schedule{},
                  step_schedule{.steps = 0},
                  step_schedule{.steps = 3, .factor = 0.5},
                  exponential_schedule{}, exponential_schedule{.last = 0},
                  exponential_schedule{.last = 1}));

TEST(cosine_schedule, is_half_way_down_in_the_middle) {
  EXPECT_DOUBLE_EQ(cosine_schedule{}(0.5), 0.5);
  EXPECT_DOUBLE_EQ((cosine_schedule{.last = 0.2}(0.5)), 0.6);
  EXPECT_DOUBLE_EQ(cosine_schedule{.last = 0.2}(1), 0.2);
}

// 0.999 in each of 2,000 rounds, as DDOME has it for texts.
TEST(exponential_schedule, falls_by_an_equal_factor_in_equal_parts) {
  const exponential_schedule x{.last = std::pow(0.999, 2000)};
  for (const int round : {0, 1, 500, 1999, 2000})
    EXPECT_NEAR(x(round / 2000.0), std::pow(0.999, round), 1e-12) << round;
  EXPECT_DOUBLE_EQ((exponential_schedule{.last = 0.25}(0.5)), 0.5);
}

TEST(step_schedule, steps_at_equal_distances) {
  const step_schedule thirds{.steps = 2, .factor = 0.5};
  EXPECT_EQ(thirds(0.33), 1);
  EXPECT_EQ(thirds(0.34), 0.5);
  EXPECT_EQ(thirds(0.67), 0.25);
  EXPECT_EQ(thirds(1), 0.25);
}

} // namespace troupe::policies
