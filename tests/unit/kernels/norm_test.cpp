#include <limits>

#include "tests/unit/kernels/backend_fixture.hpp"

namespace troupe::kernels {

class norm_test : public backend_test {
protected:
  double norm(const floats& values) {
    const auto found = testee->norm(values);
    EXPECT_TRUE(found);
    return found.value_or(-1);
  }
};

TEST_P(norm_test, is_that_of_school) {
  EXPECT_EQ(norm({}), 0);
  EXPECT_EQ(norm({-3, 4}), 5);
  EXPECT_EQ(norm(floats(10'000, 0.5f)), 50);
}

TEST_P(norm_test, agrees_with_the_reference) {
  for (std::size_t size : {1, 31, 33, 4095, 4096, 4097, 20'000}) {
    const auto values = draw(size, size);
    const auto expected = reference->norm(values).value();
    EXPECT_NEAR(norm(values), expected, 1e-14 * expected) << size;
  }
}

TEST_P(norm_test, adds_in_the_documented_order) {
  if (!has_bits_of_cpu())
    GTEST_SKIP() << "the reference needs no order";
  // Each value after the first is less than half of a digit beside it, so how
  // many are lost depends on where they are added first.
  for (std::size_t size : {100, 4096, 4097, 10'001}) {
    auto values = draw(size, size);
    for (auto& x : values)
      x = 0x1p-27f * (1 + 0.1f * std::tanh(x));
    values[0] = 1;
    double total = 0;
    for (std::size_t first = 0; first < values.size(); first += 4096) {
      double lanes[32] = {};
      for (std::size_t j = 0; j < 4096 && first + j < values.size(); ++j) {
        const double x = values[first + j];
        lanes[j % 32] += x * x;
      }
      for (int half : {16, 8, 4, 2, 1})
        for (int i = 0; i < half; ++i)
          lanes[i] += lanes[i + half];
      total += lanes[0];
    }
    EXPECT_EQ(norm(values), std::sqrt(total)) << size;
  }
}

TEST_P(norm_test, clips_to_the_bits_of_the_cpu) {
  if (!has_bits_of_cpu())
    GTEST_SKIP() << "the reference has more digits";
  auto clipped = draw(4099, 5), expected = clipped;
  ASSERT_TRUE(testee->clip(clipped, 0.3));
  ASSERT_TRUE(cpu->clip(expected, 0.3));
  EXPECT_EQ(clipped, expected);
}

TEST_P(norm_test, does_not_overflow_where_floats_would) {
  EXPECT_NEAR(norm(floats(4, 1e38f)) / 2e38, 1, 1e-6);
}

TEST_P(norm_test, clipping_bounds_the_norm_and_keeps_the_direction) {
  for (double limit : {1e-3, 0.7, 2.0}) {
    const auto values = draw(4099, 6);
    auto clipped = values;
    const auto before = testee->clip(clipped, limit);
    ASSERT_TRUE(before);
    EXPECT_EQ(*before, norm(values));
    EXPECT_LE(norm(clipped), limit);
    EXPECT_GE(norm(clipped), limit * (1 - 2.5e-7));
    for (std::size_t j = 0; j < values.size(); ++j)
      ASSERT_NEAR(clipped[j], values[j] * limit / *before,
                  3e-7 * std::abs(values[j] * limit / *before) + 1e-40);
  }
}

TEST_P(norm_test, clipping_leaves_alone_what_is_small_enough) {
  const floats values{3, 4};
  for (double limit : {5.0, 6.0, HUGE_VAL}) {
    auto clipped = values;
    ASSERT_EQ(testee->clip(clipped, limit), 5.0);
    EXPECT_EQ(clipped, values);
  }
}

TEST_P(norm_test, clipping_twice_is_clipping_once) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto once = draw(1 + seed % 50, seed);
    ASSERT_TRUE(testee->clip(once, 0.1));
    auto twice = once;
    ASSERT_TRUE(testee->clip(twice, 0.1));
    ASSERT_EQ(twice, once) << seed;
  }
}

TEST_P(norm_test, a_limit_of_zero_leaves_zeros) {
  floats values{3, -4};
  ASSERT_EQ(testee->clip(values, 0), 5.0);
  EXPECT_EQ(values, floats(2));
}

TEST_P(norm_test, refuses_what_is_not_finite_and_writes_nothing) {
  for (float x : {std::numeric_limits<float>::quiet_NaN(),
                  std::numeric_limits<float>::infinity()}) {
    floats values{1, x};
    EXPECT_EQ(testee->norm(values).error().code, errc::malformed_values);
    EXPECT_EQ(testee->clip(values, 0.1).error().code, errc::malformed_values);
    EXPECT_EQ(values[0], 1);
  }
}

TEST_P(norm_test, refuses_a_limit_that_is_none) {
  floats values{1};
  for (double limit : {-1.0, std::nan("")})
    EXPECT_EQ(testee->clip(values, limit).error().code, errc::invalid_argument);
  EXPECT_EQ(values[0], 1);
}

TROUPE_FOR_ALL_BACKENDS(norm_test);

} // namespace troupe::kernels
