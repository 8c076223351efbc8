// What a gate's logits of one row come to: shares, who is chosen, and the way
// back, in double.

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "kernels/gate.hpp"

namespace troupe::kernels::gate_share_test {

namespace {

using floats = std::vector<float>;
using doubles = std::vector<double>;
using experts = std::vector<std::uint32_t>;

const floats of_three{0, std::log(2.f), std::log(3.f)}; // 1/6, 1/3, 1/2.

doubles weights_of(const floats& logits, const experts& chosen,
                   bool renormalised) {
  doubles out(chosen.size());
  gate_weights(logits, chosen, renormalised, out);
  return out;
}

floats slopes_of(const floats& logits, const experts& chosen, bool renormalised,
                 const doubles& along) {
  floats out(logits.size(), 7);
  gate_slopes(logits, chosen, renormalised, along, out);
  return out;
}

template <class T>
void expect_near(const std::vector<T>& found, const doubles& expected,
                 double by = 1e-6) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(static_cast<double>(found[i]), expected[i], by) << i;
}

/// One row whose label is class 0 of two: what two experts say of it, (1, 0)
/// and (0, 2), weighed, is judged by cross-entropy.
struct golden_step {
  double loss = 0;
  doubles first; ///< Slopes along what each expert says.
  doubles second;
  floats gate; ///< Along the gate's logits.
};

golden_step mixed_logits(bool renormalised) {
  const experts chosen{1, 2};
  const auto weights = weights_of(of_three, chosen, renormalised);
  const std::array said{std::array{1.0, 0.0}, std::array{0.0, 2.0}};
  std::array<double, 2> z{}, slope{};
  for (std::size_t c = 0; c < 2; ++c)
    z[c] = weights[0] * said[0][c] + weights[1] * said[1][c];
  const auto right = std::exp(z[0]) / (std::exp(z[0]) + std::exp(z[1]));
  slope = {right - 1, 1 - right};
  doubles along(2);
  for (std::size_t i = 0; i < 2; ++i)
    along[i] = slope[0] * said[i][0] + slope[1] * said[i][1];
  return {.loss = -std::log(right),
          .first = {weights[0] * slope[0], weights[0] * slope[1]},
          .second = {weights[1] * slope[0], weights[1] * slope[1]},
          .gate = slopes_of(of_three, chosen, renormalised, along)};
}

floats drawn(std::size_t size, std::uint64_t seed) {
  random_stream random{seed};
  floats out(size);
  for (auto& x : out)
    x = static_cast<float>(2 * random.normal());
  return out;
}

} // namespace

TEST(gate_softmax, is_of_all_and_adds_up_to_one) {
  doubles out(3);
  softmax_of(of_three, out);
  expect_near(out, {1.0 / 6, 1.0 / 3, 1.0 / 2}, 1e-7);
  const floats large{1000, 1001, -1000};
  softmax_of(large, out);
  expect_near(out, {1 / (1 + std::exp(1.0)), 1 / (1 + std::exp(-1.0)), 0},
              1e-12);
  const auto many = drawn(1000, 1);
  doubles shares(1000);
  softmax_of(many, shares);
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12);
}

TEST(gate_softmax, is_added_row_after_row) {
  const floats rows{0, std::log(3.f), std::log(3.f), 0, 0, 0};
  doubles sum{1, 2};
  add_softmax(rows, sum);
  expect_near(sum, {2.5, 3.5});
}

TEST(top_of, is_best_first_and_of_equals_the_lower_index) {
  const doubles scores{0.5, 2, 0.5, 2, 1};
  EXPECT_EQ(top_of(scores, 0), experts{});
  EXPECT_EQ(top_of(scores, 1), experts{1});
  EXPECT_EQ(top_of(scores, 2), (experts{1, 3}));
  EXPECT_EQ(top_of(scores, 5), (experts{1, 3, 4, 0, 2}));
  EXPECT_EQ(top_of(doubles(4, 0.25), 3), (experts{0, 1, 2}));
}

TEST(gate_weights, are_of_all_or_of_who_is_chosen) {
  expect_near(weights_of(of_three, {1, 2}, false), {1.0 / 3, 1.0 / 2});
  expect_near(weights_of(of_three, {1, 2}, true), {0.4, 0.6});
  expect_near(weights_of(of_three, {0}, true), {1}, 0);
}

TEST(gate_weights, of_all_are_the_same_to_the_bit_renormalised_or_not) {
  const auto logits = drawn(9, 2);
  experts all(9);
  std::iota(all.begin(), all.end(), 0u);
  EXPECT_EQ(weights_of(logits, all, true), weights_of(logits, all, false));
  const doubles along{1, -2, 0.5, 3, 0, 1, -1, 2, 0.25};
  EXPECT_EQ(slopes_of(logits, all, true, along),
            slopes_of(logits, all, false, along));
}

// By hand: shares 1/3 and 1/2 of (1, 0) and (0, 2) are (1/3, 1).
TEST(golden_step, is_as_printed) {
  const auto x = mixed_logits(false);
  EXPECT_NEAR(x.loss, 1.081037, 1e-6);
  expect_near(x.gate, {-0.073417, -0.367087, 0.440504});
  expect_near(x.first, {-0.220252, 0.220252});
  expect_near(x.second, {-0.330378, 0.330378});
}

// Shares 2/5 and 3/5 are (2/5, 6/5).
TEST(golden_step, renormalised) {
  const auto x = mixed_logits(true);
  EXPECT_NEAR(x.loss, 1.171101, 1e-6);
  expect_near(x.gate, {0, -0.496782, 0.496782});
  EXPECT_EQ(x.gate[0], 0.f) << "who is not chosen gets exactly nothing";
  expect_near(x.first, {-0.275990, 0.275990});
  expect_near(x.second, {-0.413985, 0.413985});
}

// p = 1/3 e/(e + 1) + 1/2 1/(1 + e^2), and its slopes along the shares.
TEST(golden_step, that_mixes_probabilities) {
  const experts chosen{1, 2};
  const auto weights = weights_of(of_three, chosen, false);
  const doubles chances{std::exp(1.0) / (std::exp(1.0) + 1),
                        1 / (1 + std::exp(2.0))};
  const auto p = weights[0] * chances[0] + weights[1] * chances[1];
  EXPECT_NEAR(-std::log(p), 1.193074, 1e-6);
  expect_near(
    slopes_of(of_three, chosen, false, {-chances[0] / p, -chances[1] / p}),
    {0.166667, -0.470149, 0.303482});
}

TEST(gate_slopes, are_those_of_finite_differences) {
  const auto logits = drawn(6, 3);
  const experts chosen{0, 2, 5};
  const doubles along{0.5, -1, 2};
  for (const bool renormalised : {false, true}) {
    // In double: shares are a quotient of exponentials.
    const auto value = [&](const doubles& at) {
      double total = 0, sum = 0;
      for (std::uint32_t k = 0; k < 6; ++k)
        if (!renormalised || std::ranges::count(chosen, k) > 0)
          total += std::exp(at[k]);
      for (std::size_t i = 0; i < 3; ++i)
        sum += along[i] * std::exp(at[chosen[i]]) / total;
      return sum;
    };
    doubles at(logits.begin(), logits.end());
    const auto found = slopes_of(logits, chosen, renormalised, along);
    for (std::size_t k = 0; k < 6; ++k) {
      constexpr double step = 1e-5;
      const auto before = at[k];
      at[k] = before + step;
      const auto above = value(at);
      at[k] = before - step;
      const auto below = value(at);
      at[k] = before;
      EXPECT_NEAR(static_cast<double>(found[k]), (above - below) / (2 * step),
                  1e-6)
        << k;
    }
    for (const auto k : {1, 3, 4})
      EXPECT_EQ(found[static_cast<std::size_t>(k)] == 0, renormalised) << k;
  }
}

// Of shares 1/6, 1/3 and 1/2; the softmax of these would be (0.28, 0.33, 0.39).
TEST(owner_slopes, are_of_one_softmax) {
  floats out(3);
  EXPECT_NEAR(owner_slopes(of_three, 1, out), std::log(3.0), 1e-6);
  expect_near(out, {1.0 / 6, -2.0 / 3, 1.0 / 2});
  EXPECT_NEAR(owner_slopes(of_three, 0, out), std::log(6.0), 1e-6);
  expect_near(out, {-5.0 / 6, 1.0 / 3, 1.0 / 2});
}

TEST(owner_slopes, have_a_loss_where_a_share_is_no_number_any_more) {
  floats out(2);
  EXPECT_NEAR(owner_slopes(floats{0, 2000}, 0, out), 2000, 1e-9);
  EXPECT_EQ(out, (floats{-1, 1}));
}

} // namespace troupe::kernels::gate_share_test
