// The adapter of a batch norm: that scale and shift are added to those of the
// main norm is FLoRAL's reparameterised sum of two norms.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/small_adapters.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t features = 5;

/// Multiples of 1/64: sums of a few, halved, have no rounding in a float.
floats grid(std::size_t size, std::uint64_t seed) {
  auto xs = draw(size, seed);
  for (auto& x : xs)
    x = std::round(x * 64) / 64;
  return xs;
}

/// What a batch norm without epsilon divides and shifts by.
struct statistics {
  double mean;
  double deviation;
};

double norm(double x, const statistics& by, double scale, double shift) {
  return (x - by.mean) / by.deviation * scale + shift;
}

std::vector<statistics> draw_statistics(std::uint64_t seed) {
  random_stream random{seed};
  std::vector<statistics> all;
  for (std::size_t j = 0; j < features; ++j)
    all.push_back({random.normal(), 0.5 + random.uniform()});
  return all;
}

} // namespace

// Specification, 3.5: BN(x; g, b) + pi BN_i(x; (s_i / s) g_i, b_i + (m_i - m) /
// s g_i), whatever statistics m_i and s_i the adapter has of its own.
TEST(norm_adapter, is_the_reparameterised_sum_of_two_batch_norms) {
  const auto plan = planned(
    {{"bn.weight", {features}}, {"bn.bias", {features}}}, {.norm = true});
  const auto base = grid(2 * features, 1);
  const std::vector<floats> adapters{grid(2 * features, 2),
                                     grid(2 * features, 3)};
  const std::vector<double> shares{0.25, 0.75};
  const auto arithmetic = cpu();
  floats both(base.size());
  ASSERT_TRUE(
    adapter_mixture(plan, *arithmetic)
      .compose(base, views{adapters.begin(), adapters.end()}, shares, both));
  const auto main = draw_statistics(4);
  const std::vector own{draw_statistics(5), draw_statistics(6)};
  random_stream inputs{7};
  for (int row = 0; row < 100; ++row)
    for (std::size_t j = 0; j < features; ++j) {
      const auto at = [j](const floats& xs, std::size_t from = 0) {
        return static_cast<double>(xs[from + j]);
      };
      const auto x = 3 * inputs.normal();
      auto sum = norm(x, main[j], at(base), at(base, features));
      for (std::size_t c = 0; c < 2; ++c) {
        const auto scale = at(adapters[c]);
        const auto shift = at(adapters[c], features);
        sum +=
          shares[c]
          * norm(x, own[c][j], own[c][j].deviation / main[j].deviation * scale,
                 shift
                   + (own[c][j].mean - main[j].mean) / main[j].deviation
                       * scale);
      }
      EXPECT_NEAR(norm(x, main[j], at(both), at(both, features)), sum, 1e-12);
    }
}

// Where the publication holds g_i still in the shift, its slope is that of the
// sum with x - m_i in the place of x - m: it differs by (m - m_i) / s times the
// slope of b_i.
TEST(norm_adapter, has_another_slope_than_with_a_shift_that_is_held_still) {
  const statistics main{0.4, 1.5}, own{-0.7, 0.6};
  random_stream random{1};
  double whole = 0, held = 0, shift = 0;
  for (int row = 0; row < 20; ++row) {
    const auto x = random.normal();
    const auto slope = random.normal(); // Of the loss, by this output.
    const auto sum = [&](double scale, double still) {
      return norm(x, own, own.deviation / main.deviation * scale,
                  (own.mean - main.mean) / main.deviation * still);
    };
    whole += slope * (sum(1, 1) - sum(0, 0));
    held += slope * (sum(1, 0) - sum(0, 0));
    shift += slope;
  }
  EXPECT_NEAR(held, whole + (main.mean - own.mean) / main.deviation * shift,
              1e-12);
}

} // namespace troupe::models
