#include "policies/weighting.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace troupe::policies {

class weight_kind_test : public testing::TestWithParam<weight_kind> {};

TEST_P(weight_kind_test, never_falls_with_more_examples) {
  for (std::uint64_t n = 0; n < 1000; ++n)
    ASSERT_LE(weight_of(GetParam(), n), weight_of(GetParam(), n + 1)) << n;
}

TEST_P(weight_kind_test, is_positive_with_examples_and_zero_without) {
  EXPECT_EQ(weight_of(GetParam(), 0), 0);
  EXPECT_GT(weight_of(GetParam(), 1), 0.5);
}

TEST_P(weight_kind_test, a_registered_client_stays_within_its_bounds) {
  const weight_terms terms{.kind = GetParam(), .examples = 40};
  EXPECT_TRUE(within_bounds(weight_of(GetParam(), 40), terms));
  EXPECT_TRUE(within_bounds(weight_of(GetParam(), 3), terms));
  EXPECT_FALSE(within_bounds(weight_of(GetParam(), 40) * 1.001, terms));
}

INSTANTIATE_TEST_SUITE_P(all, weight_kind_test,
                         testing::Values(weight_kind::examples,
                                         weight_kind::square_root,
                                         weight_kind::logarithm,
                                         weight_kind::equal));

TEST(weight_of, matches_the_formulas_by_hand) {
  EXPECT_EQ(weight_of(weight_kind::examples, 9), 9);
  EXPECT_EQ(weight_of(weight_kind::square_root, 9), 3);
  EXPECT_DOUBLE_EQ(weight_of(weight_kind::logarithm, 9), std::log(10.0));
  EXPECT_EQ(weight_of(weight_kind::equal, 9), 1);
}

TEST(largest_weight, follows_the_rule_of_the_block) {
  const auto of = [](weight_rule rule) {
    return largest_weight({.rule = rule, .examples = 60});
  };
  EXPECT_EQ(of(weight_rule::examples), 60);
  EXPECT_EQ(of(weight_rule::examples_times_share), 60);
  EXPECT_EQ(of(weight_rule::one), 1);
  EXPECT_EQ(of(weight_rule::one_times_share), 1);
  EXPECT_EQ(of(weight_rule::rank_norm), rank_norm_max);
}

TEST(within_bounds, refuses_what_is_no_weight) {
  const weight_terms terms{.examples = 10};
  for (const double x :
       {0.0, -1.0, 11.0, HUGE_VAL, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_FALSE(within_bounds(x, terms)) << x;
}

TEST(within_bounds, lets_rounded_shares_pass) {
  EXPECT_TRUE(within_bounds(10 * (1 + 1e-7), {.examples = 10}));
}

} // namespace troupe::policies
