#include "policies/devices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace troupe::policies {

namespace {

std::vector<double> speeds(const speed_distribution& x,
                           std::uint64_t clients = 2000) {
  std::vector<double> result;
  for (std::uint64_t c = 1; c <= clients; ++c)
    result.push_back(speed_of({.speed = x}, 7, {c}));
  std::ranges::sort(result);
  return result;
}

} // namespace

class speed_test : public testing::TestWithParam<speed_distribution> {};

TEST_P(speed_test, every_step_takes_a_finite_time) {
  const fleet x{.seconds_per_step = 0.5, .speed = GetParam()};
  ASSERT_TRUE(check(x));
  for (std::uint64_t c = 1; c <= 2000; ++c) {
    const auto seconds = seconds_per_step(x, 7, {c});
    ASSERT_GT(seconds, 0);
    ASSERT_LT(seconds, 1e9);
  }
}

TEST_P(speed_test, a_client_keeps_its_device) {
  const fleet x{.speed = GetParam()};
  for (std::uint64_t c = 1; c <= 20; ++c)
    EXPECT_EQ(speed_of(x, 7, {c}), speed_of(x, 7, {c}));
}

TEST_P(speed_test, time_is_proportional_to_the_reference_device) {
  const fleet one{.seconds_per_step = 1, .speed = GetParam()};
  const fleet half{.seconds_per_step = 0.5, .speed = GetParam()};
  EXPECT_DOUBLE_EQ(seconds_per_step(half, 3, {4}),
                   0.5 * seconds_per_step(one, 3, {4}));
}

INSTANTIATE_TEST_SUITE_P(
  all, speed_test,
  testing::Values(constant_speed{}, uniform_speed{},
                  uniform_speed{.slowest = 3, .fastest = 3},
                  half_normal_speed{}, half_normal_speed{.sigma = 10},
                  lognormal_speed{}, lognormal_speed{.sigma = 0}));

TEST(uniform_speed, from_1_to_10_differs_tenfold) {
  const auto found = speeds(uniform_speed{.slowest = 1, .fastest = 10});
  EXPECT_GE(found.front(), 1);
  EXPECT_LT(found.back(), 10);
  EXPECT_NEAR(found.back() / found.front(), 10, 0.2);
  EXPECT_NEAR(found[1000], 5.5, 0.3);
}

TEST(half_normal_speed, most_are_fast_and_nobody_is_faster_than_the_reference) {
  const auto found = speeds(half_normal_speed{.sigma = 1});
  EXPECT_LE(found.back(), 1);
  // The median of |z| is 0.674.
  EXPECT_NEAR(1 / found[1000], 1.674, 0.06);
}

TEST(lognormal_speed, half_of_the_devices_are_faster_than_the_reference) {
  const auto found = speeds(lognormal_speed{.sigma = 0.5});
  EXPECT_NEAR(found[1000], 1, 0.06);
  // One standard deviation up is the 84th percentile: exp(0.5).
  EXPECT_NEAR(found[1683], 1.6487, 0.12);
}

TEST(devices, another_seed_is_another_fleet) {
  const fleet x{.speed = uniform_speed{}};
  EXPECT_NE(speed_of(x, 1, {1}), speed_of(x, 2, {1}));
  EXPECT_NE(speed_of(x, 1, {1}), speed_of(x, 1, {2}));
}

TEST(devices, refuse_what_takes_no_time_or_for_ever) {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, nan, HUGE_VAL}) {
    EXPECT_FALSE(check(fleet{.seconds_per_step = bad})) << bad;
    EXPECT_FALSE(check(fleet{.speed = uniform_speed{.slowest = bad}})) << bad;
  }
  EXPECT_FALSE(check(fleet{.speed = uniform_speed{.slowest = 2}}));
  EXPECT_FALSE(check(fleet{.speed = half_normal_speed{.sigma = -1}}));
  EXPECT_FALSE(check(fleet{.speed = lognormal_speed{.sigma = nan}}));
  EXPECT_EQ(check(fleet{.speed = lognormal_speed{.sigma = 11}}).error().context,
            "sigma of device speeds is 11.000000; from 0 to 10 would do");
}

} // namespace troupe::policies
