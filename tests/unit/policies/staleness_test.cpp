#include "policies/staleness.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace troupe::policies {

class staleness_discount_test
  : public testing::TestWithParam<staleness_discount> {};

TEST_P(staleness_discount_test, a_fresh_offer_counts_fully) {
  EXPECT_DOUBLE_EQ(weight_of(GetParam(), 0), 1.0);
}

TEST_P(staleness_discount_test, weight_never_grows_and_stays_positive) {
  for (std::uint64_t s = 0; s < 10'000; ++s) {
    ASSERT_LE(weight_of(GetParam(), s + 1), weight_of(GetParam(), s)) << s;
    ASSERT_GT(weight_of(GetParam(), s), 0.0) << s;
  }
  EXPECT_GT(weight_of(GetParam(), std::numeric_limits<std::uint64_t>::max()),
            0.0);
}

INSTANTIATE_TEST_SUITE_P(
  all, staleness_discount_test,
  testing::Values(constant_discount{}, polynomial_discount{.exponent = 0.5},
                  polynomial_discount{.exponent = 2},
                  polynomial_discount{.exponent = 90},
                  polynomial_discount{.exponent = 0}, hinge_discount{.knee = 4},
                  hinge_discount{.knee = 0, .slope = 0.5},
                  exponential_discount{.rate = 0.5},
                  exponential_discount{.rate = 0}));

TEST(polynomial_discount, matches_the_formula_by_hand) {
  // Three versions behind with exponent 1/2: (1 + 3)^(-1/2) = 1/2.
  EXPECT_DOUBLE_EQ(polynomial_discount{.exponent = 0.5}(3), 0.5);
}

TEST(hinge_discount, matches_the_paper_and_not_its_usual_misreading) {
  // 1 / (a (s - b) + 1); often coded as 1 / (a (s - b + 1)), which would be
  // 1/15.
  EXPECT_DOUBLE_EQ((hinge_discount{.knee = 4, .slope = 5}(6)), 1.0 / 11);
  EXPECT_DOUBLE_EQ((hinge_discount{.knee = 4, .slope = 5}(4)), 1.0);
}

TEST(exponential_discount, halves_each_ln_2_over_rate) {
  EXPECT_DOUBLE_EQ(exponential_discount{.rate = std::log(2.0)}(3), 1.0 / 8);
}

} // namespace troupe::policies
