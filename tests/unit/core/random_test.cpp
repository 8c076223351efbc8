#include "core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

namespace troupe {

namespace {

struct sample {
  double mean = 0;
  double variance = 0;
};

template <class Draw>
sample sample_of(int count, Draw draw) {
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
  }
  const auto mean = sum / count;
  return {mean, squares / count - mean * mean};
}

} // namespace

TEST(derive_seed, name_index_and_parent_each_give_another_stream) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t parent : {0, 1, 2})
    for (const char* name : {"", "a", "b", "ab", "ba", "client", "client "})
      for (std::uint64_t index = 0; index < 100; ++index)
        seeds.insert(derive_seed(parent, name, index));
  EXPECT_EQ(seeds.size(), 3u * 7 * 100);
}

TEST(derive_seed, streams_that_differ_in_name_only_are_not_correlated) {
  random_stream a{derive_seed(1, "network")}, b{derive_seed(1, "schedule")};
  // The product of two independent uniform values has the mean 1/4.
  EXPECT_NEAR(
    sample_of(100'000, [&] { return a.uniform() * b.uniform(); }).mean, 0.25,
    0.003);
}

TEST(derive_seed, never_changes) {
  // The digests of all runs on record depend on these.
  EXPECT_EQ(derive_seed(0, ""), 1856363650048834761u);
  EXPECT_EQ(derive_seed(42, "client", 7), 2298440942201629763u);
  EXPECT_EQ(random_stream{1}(), 12966619160104079557u);
}

TEST(random_stream, draws_what_the_published_generator_draws) {
  // The first outputs of xoshiro256** from the state 1, 2, 3, 4.
  auto random = random_stream::resume({1, 2, 3, 4});
  for (std::uint64_t x :
       {11520ull, 0ull, 1509978240ull, 1215971899390074240ull})
    ASSERT_EQ(random(), x);
}

TEST(random_stream, a_copy_repeats_the_original) {
  random_stream a{3};
  a();
  auto b = a;
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(a(), b());
}

TEST(random_stream, goes_on_from_its_state) {
  random_stream a{4};
  for (int i = 0; i < 7; ++i)
    a.normal();
  auto b = random_stream::resume(a.state());
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(a.normal(), b.normal());
}

TEST(random_stream, the_seed_zero_is_as_good_as_any) {
  random_stream random{0};
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i)
    seen.insert(random());
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(random_stream, below_reaches_every_value_equally_often) {
  for (std::uint64_t n : {1, 2, 3, 7, 10}) {
    random_stream random{n};
    std::array<int, 10> counts{};
    constexpr int draws = 100'000;
    for (int i = 0; i < draws; ++i) {
      const auto x = random.below(n);
      ASSERT_LT(x, n);
      ++counts[x];
    }
    // Five standard deviations of a binomial count.
    const auto mean = draws / static_cast<double>(n);
    for (std::uint64_t x = 0; x < n; ++x)
      EXPECT_NEAR(counts[x], mean, 5 * std::sqrt(mean)) << x << " of " << n;
  }
}

TEST(random_stream, below_has_no_bias_where_a_plain_remainder_would) {
  // With n = 3/4 of 2^64 the lower third would be drawn twice as often.
  const auto n = std::uint64_t{3} << 62;
  random_stream random{5};
  const auto low =
    sample_of(30'000, [&] { return random.below(n) < n / 3 ? 1.0 : 0.0; });
  EXPECT_NEAR(low.mean, 1.0 / 3, 0.015);
}

TEST(random_stream, uniform_has_the_moments_of_its_name) {
  random_stream random{6};
  const auto found = sample_of(100'000, [&] {
    const auto x = random.uniform();
    EXPECT_TRUE(x >= 0 && x < 1);
    return x;
  });
  EXPECT_NEAR(found.mean, 0.5, 0.005);
  EXPECT_NEAR(found.variance, 1.0 / 12, 0.002);
}

TEST(random_stream, normal_has_the_moments_of_its_name) {
  random_stream random{7};
  EXPECT_NEAR(sample_of(100'000, [&] { return random.normal(); }).mean, 0,
              0.016);
  EXPECT_NEAR(sample_of(100'000, [&] { return random.normal(); }).variance, 1,
              0.025);
  // The fourth moment tells it from any other bell.
  EXPECT_NEAR(
    sample_of(100'000, [&] { return std::pow(random.normal(), 4); }).mean, 3,
    0.16);
}

TEST(random_stream, gamma_has_the_moments_of_its_name) {
  for (double shape : {0.1, 0.5, 1.0, 2.5, 30.0}) {
    random_stream random{8};
    const auto found = sample_of(100'000, [&] { return random.gamma(shape); });
    EXPECT_NEAR(found.mean, shape, 5 * std::sqrt(shape / 100'000)) << shape;
    EXPECT_NEAR(found.variance, shape, 0.05 * shape + 0.01) << shape;
  }
}

TEST(random_stream, dirichlet_is_a_point_of_the_simplex) {
  random_stream random{9};
  for (double alpha : {1e-4, 0.1, 1.0, 100.0})
    for (int i = 0; i < 200; ++i) {
      const auto x = random.dirichlet(10, alpha);
      ASSERT_TRUE(std::ranges::all_of(x, [](double v) { return v >= 0; }));
      ASSERT_NEAR(std::accumulate(x.begin(), x.end(), 0.0), 1, 1e-12) << alpha;
    }
}

TEST(random_stream, dirichlet_has_the_moments_of_its_name) {
  for (double alpha : {0.5, 2.0}) {
    random_stream random{10};
    const auto found =
      sample_of(50'000, [&] { return random.dirichlet(4, alpha)[1]; });
    EXPECT_NEAR(found.mean, 0.25, 0.006) << alpha;
    EXPECT_NEAR(found.variance, 0.25 * 0.75 / (4 * alpha + 1), 0.003) << alpha;
  }
}

TEST(random_stream, chance_is_never_below_zero_and_always_from_one_on) {
  random_stream random{11};
  for (int i = 0; i < 1000; ++i) {
    ASSERT_FALSE(random.chance(0));
    ASSERT_TRUE(random.chance(1));
  }
}

TEST(random_stream, shuffle_reaches_every_order_equally_often) {
  random_stream random{12};
  std::array<int, 27> counts{};
  constexpr int draws = 60'000;
  for (int i = 0; i < draws; ++i) {
    std::vector<int> x{0, 1, 2};
    random.shuffle(x);
    ++counts[static_cast<std::size_t>(x[0] * 9 + x[1] * 3 + x[2])];
  }
  int reached = 0;
  for (int count : counts)
    if (count > 0) {
      ++reached;
      EXPECT_NEAR(count, draws / 6, 500);
    }
  EXPECT_EQ(reached, 6);
}

} // namespace troupe
