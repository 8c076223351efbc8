#include <limits>

#include "tests/unit/kernels/backend_fixture.hpp"

namespace troupe::kernels {

namespace {

constexpr server_rule all_rules[] = {server_rule::plain, server_rule::momentum,
                                     server_rule::adam, server_rule::yogi,
                                     server_rule::adagrad};

/// The moments that a rule has at the start.
doubles start_of(const server_step& how, std::size_t size) {
  return doubles(static_cast<std::size_t>(how.moment_count()) * size);
}

} // namespace

class server_step_test : public backend_test {
protected:
  /// One value's steps from 0 with the given pseudo-gradients, as sums with
  /// total 2.
  floats path(const server_step& how, const doubles& changes) {
    auto moments = start_of(how, 1);
    floats value{0}, result;
    for (double x : changes) {
      EXPECT_TRUE(
        testee->finish(value, doubles{2 * x}, 2, how, moments, value));
      result.push_back(value[0]);
    }
    return result;
  }
};

TEST_P(server_step_test, plain_is_finish) {
  const auto base = draw(257, 1);
  const doubles sum(257, 0.3);
  floats out(257), expected(257);
  ASSERT_TRUE(testee->finish(base, sum, {.rate = 0.7, .total = 3}, expected));
  ASSERT_TRUE(testee->finish(base, sum, 3, {.rate = 0.7}, {}, out));
  EXPECT_EQ(out, expected);
}

TEST_P(server_step_test, momentum_by_hand) {
  // m = 1, 1.5, 0.75 for beta1 = 1/2, and the rate is 2.
  EXPECT_EQ(
    path({.rule = server_rule::momentum, .rate = 2, .beta1 = 0.5}, {1, 1, 0}),
    (floats{2, 5, 6.5}));
}

TEST_P(server_step_test, adagrad_by_hand) {
  // v = 1 + 8 = 9, then 9 + 16 = 25, tau = 1 and m = D: no momentum.
  const server_step how{
    .rule = server_rule::adagrad, .rate = 6, .beta1 = 0, .tau = 1};
  const auto root8 = std::sqrt(8.0);
  const auto found = path(how, {root8, 4});
  EXPECT_FLOAT_EQ(found[0], static_cast<float>(6 * root8 / (3 + 1)));
  EXPECT_FLOAT_EQ(found[1] - found[0], 6 * 4 / (5 + 1));
}

TEST_P(server_step_test, adam_by_hand) {
  // No bias correction: m = 1/2 * 2 = 1; v = 3/4 * 4 + 1/4 * 4 = 4 with tau
  // = 2.
  const server_step how{.rule = server_rule::adam,
                        .rate = 8,
                        .beta1 = 0.5,
                        .beta2 = 0.75,
                        .tau = 2};
  // Then m = 1/2 and v = 3, where nothing changes any more.
  const auto found = path(how, {2, 0});
  EXPECT_FLOAT_EQ(found[0], 2);
  EXPECT_FLOAT_EQ(found[1], static_cast<float>(2 + 4 / (std::sqrt(3.0) + 2)));
}

TEST_P(server_step_test,
       yogi_moves_the_variance_by_the_square_and_not_its_distance) {
  // v = 4, then 4 + 1/4 * 16 = 8, then 8 - 1/4 * 4 = 7, then 7 - 0.
  const server_step how{
    .rule = server_rule::yogi, .rate = 1, .beta1 = 0, .beta2 = 0.75, .tau = 2};
  const auto found = path(how, {4, 2});
  EXPECT_FLOAT_EQ(found[0], static_cast<float>(4 / (std::sqrt(8.0) + 2)));
  EXPECT_FLOAT_EQ(found[1] - found[0],
                  static_cast<float>(2 / (std::sqrt(7.0) + 2)));
}

TEST_P(server_step_test, every_rule_stays_where_it_is_without_a_change) {
  const auto base = draw(257, 2);
  for (auto rule : all_rules) {
    const server_step how{.rule = rule};
    auto moments = start_of(how, 257);
    auto value = base;
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE(testee->finish(value, doubles(257), 1, how, moments, value));
    EXPECT_EQ(value, base) << static_cast<int>(rule);
  }
}

TEST_P(server_step_test, agrees_with_the_reference_over_many_versions) {
  for (auto rule : all_rules)
    for (std::size_t size : {1, 33, 2049}) {
      const server_step how{.rule = rule, .rate = 0.1};
      auto moments = start_of(how, size), expected_moments = moments;
      auto value = draw(size, 3);
      for (std::uint64_t i = 0; i < 20; ++i) {
        const auto change = draw(size, derive_seed(4, "change", i));
        const doubles sum(change.begin(), change.end());
        auto expected = value;
        ASSERT_TRUE(
          reference->finish(value, sum, 3, how, expected_moments, expected));
        ASSERT_TRUE(testee->finish(value, sum, 3, how, moments, value));
        for (std::size_t j = 0; j < size; ++j)
          ASSERT_NEAR(value[j], expected[j],
                      1.2e-7f * std::abs(expected[j]) + 1e-9f)
            << static_cast<int>(rule);
        for (std::size_t j = 0; j < moments.size(); ++j)
          ASSERT_NEAR(moments[j], expected_moments[j],
                      1e-12 * std::abs(expected_moments[j]) + 1e-15);
      }
    }
}

TEST_P(server_step_test, has_the_bits_of_the_cpu) {
  if (!has_bits_of_cpu())
    GTEST_SKIP() << "the reference has more digits";
  for (auto rule : all_rules) {
    const server_step how{.rule = rule, .rate = 0.1};
    auto moments = start_of(how, 257), expected_moments = moments;
    auto value = draw(257, 3), expected = value;
    for (std::uint64_t i = 0; i < 5; ++i) {
      const auto change = draw(257, derive_seed(4, "change", i));
      const doubles sum(change.begin(), change.end());
      ASSERT_TRUE(
        cpu->finish(expected, sum, 3, how, expected_moments, expected));
      ASSERT_TRUE(testee->finish(value, sum, 3, how, moments, value));
      ASSERT_EQ(value, expected) << static_cast<int>(rule);
      ASSERT_EQ(moments, expected_moments) << static_cast<int>(rule);
    }
  }
}

TEST_P(server_step_test, a_variance_that_shrinks_to_nothing_stays_a_number) {
  for (auto rule : {server_rule::adam, server_rule::yogi}) {
    const server_step how{.rule = rule, .beta1 = 0, .beta2 = 0};
    EXPECT_EQ(path(how, doubles(100)), floats(100)) << static_cast<int>(rule);
  }
  // A tau that was smaller in an earlier run leaves less than -tau^2.
  doubles moments{0, -1};
  floats value{1};
  ASSERT_TRUE(testee->finish(value, doubles{0}, 1, {.rule = server_rule::yogi},
                             moments, value));
  EXPECT_EQ(value[0], 1);
}

TEST_P(server_step_test, refuses_what_no_rule_can_use_and_writes_nothing) {
  doubles moments(2, 7);
  floats out{7};
  const auto code = [&](const server_step& how, std::span<double> kept) {
    const auto answer =
      testee->finish(floats{1}, doubles{1}, 1, how, kept, out);
    return answer ? "accepted" : answer.error().context;
  };
  const server_step adam{.rule = server_rule::adam};
  EXPECT_EQ(code(adam, std::span{moments}.first(1)),
            "the optimiser has 1 moments, its rule keeps 2");
  auto how = adam;
  how.beta1 = 1;
  EXPECT_EQ(code(how, moments), "beta1 must be in [0, 1), found 1.000000");
  how = adam;
  how.beta2 = -1;
  EXPECT_EQ(code(how, moments), "beta2 must be in [0, 1), found -1.000000");
  how = adam;
  how.tau = 0;
  EXPECT_EQ(code(how, moments),
            "tau must be positive and finite, found 0.000000");
  how = adam;
  how.rate = std::numeric_limits<double>::infinity();
  EXPECT_EQ(code(how, moments), "the rate must be finite, found inf");
  EXPECT_EQ(out, floats{7});
  EXPECT_EQ(moments, doubles(2, 7));
}

TROUPE_FOR_ALL_BACKENDS(server_step_test);

} // namespace troupe::kernels
