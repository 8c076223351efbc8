// FLoRAL's preconditioner of low-rank factors: what it does to a step of the
// product, and what it leaves alone.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/support/small_adapters.hpp"

namespace troupe::models {

namespace {

/// A plain layer of 6 x 5 with rank 2, and what a preconditioned step does to
/// its product.
struct layer {
  adapter_plan plan = planned({{"w", {6, 5}}}, {.rank = 2, .bias = false});
  floats gradient = draw(30, 9);

  floats product(const floats& x) const {
    floats out(30);
    const auto arithmetic = cpu();
    adapter_mixture mix{plan, *arithmetic};
    const double one[] = {1};
    EXPECT_TRUE(mix.compose(floats(30), views{x}, one, out));
    return out;
  }

  floats slopes(const floats& x, double epsilon) const {
    const auto arithmetic = cpu();
    adapter_mixture mix{plan, *arithmetic};
    const double one[] = {1};
    adapter_mixture::slopes found;
    EXPECT_TRUE(mix.pull_back(gradient, views{x}, one, found));
    precondition(plan, x, epsilon, found.adapters[0]);
    return found.adapters[0];
  }

  /// d product / d rate along the step, by a small one.
  floats change(const floats& x, double epsilon) const {
    const auto step = slopes(x, epsilon);
    auto above = x, below = x;
    const float rate = 1e-2f;
    for (std::size_t j = 0; j < x.size(); ++j) {
      above[j] -= rate * step[j];
      below[j] += rate * step[j];
    }
    auto up = product(above);
    const auto down = product(below);
    for (std::size_t j = 0; j < up.size(); ++j)
      up[j] = (up[j] - down[j]) / (2 * rate);
    return up;
  }
};

/// P = A (A^T A)^-1 A^T for factors of rank 2, rank-major.
std::vector<double> projector(std::span<const float> a) {
  const auto n = a.size() / 2;
  double g[2][2] = {};
  for (int k = 0; k < 2; ++k)
    for (int l = 0; l < 2; ++l)
      for (std::size_t i = 0; i < n; ++i)
        g[k][l] +=
          static_cast<double>(a[k * n + i]) * static_cast<double>(a[l * n + i]);
  const auto det = g[0][0] * g[1][1] - g[0][1] * g[1][0];
  const double inverse[2][2] = {{g[1][1] / det, -g[0][1] / det},
                                {-g[1][0] / det, g[0][0] / det}};
  std::vector<double> p(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (int k = 0; k < 2; ++k)
        for (int l = 0; l < 2; ++l)
          p[i * n + j] += static_cast<double>(a[k * n + i]) * inverse[k][l]
                          * static_cast<double>(a[l * n + j]);
  return p;
}

} // namespace

// With epsilon = 0 the product moves by -(P_U G + G P_V).
TEST(preconditioner, makes_a_step_of_the_product) {
  const layer x;
  const auto adapter = draw(x.plan.size(), 4);
  const auto& m = x.plan.matrices[0];
  const auto pu = projector(std::span{adapter}.subspan(m.u_at, 12));
  const auto pv = projector(std::span{adapter}.subspan(m.v_at, 10));
  const auto change = x.change(adapter, 1e-12);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 5; ++j) {
      double expected = 0;
      for (std::size_t k = 0; k < 6; ++k)
        expected -= pu[i * 6 + k] * static_cast<double>(x.gradient[k * 5 + j]);
      for (std::size_t k = 0; k < 5; ++k)
        expected -= static_cast<double>(x.gradient[i * 5 + k]) * pv[k * 5 + j];
      EXPECT_NEAR(change[i * 5 + j], expected, 2e-3);
    }
}

// (U, V) and (U A, V A^-T) are the same matrix and make the same step.
TEST(preconditioner, does_not_see_how_a_product_is_factored) {
  const layer x;
  const auto one = draw(x.plan.size(), 4);
  auto other = one;
  const auto& m = x.plan.matrices[0];
  const double a[2][2] = {{2, 1}, {-1, 0.5}};      // Determinant 2.
  const double b[2][2] = {{0.25, 0.5}, {-0.5, 1}}; // Its inverse, transposed.
  for (int l = 0; l < 2; ++l) {
    for (std::size_t i = 0; i < 6; ++i)
      other[m.u_at + l * 6 + i] = static_cast<float>(
        one[m.u_at + i] * a[0][l] + one[m.u_at + 6 + i] * a[1][l]);
    for (std::size_t j = 0; j < 5; ++j)
      other[m.v_at + l * 5 + j] = static_cast<float>(
        one[m.v_at + j] * b[0][l] + one[m.v_at + 5 + j] * b[1][l]);
  }
  const auto same = x.product(one), too = x.product(other);
  for (std::size_t j = 0; j < same.size(); ++j)
    ASSERT_NEAR(same[j], too[j], 1e-5);
  const auto first = x.change(one, 1e-12), second = x.change(other, 1e-12);
  for (std::size_t j = 0; j < first.size(); ++j)
    EXPECT_NEAR(first[j], second[j], 5e-3);
}

TEST(preconditioner, is_finite_where_a_factor_is_zero_and_leaves_vectors) {
  for (const auto split : {kernel_split::in, kernel_split::balanced_2d}) {
    const auto plan = planned(mixed, {.rank = 2, .convolution = split});
    const auto adapter = initial_adapter(plan, 1);
    const auto before = draw(plan.size(), 2);
    auto after = before;
    precondition(plan, adapter, 1e-5, after);
    for (const auto& x : after)
      EXPECT_TRUE(std::isfinite(x));
    for (const auto& v : plan.vectors)
      for (std::size_t j = 0; j < v.size; ++j)
        EXPECT_EQ(after[v.in_adapter + j], before[v.in_adapter + j]);
  }
}

// By hand: one rank, two places. V = (3, 4 | 0, 1) over two channels.
TEST(preconditioner, divides_a_kernel_by_its_frobenius_norm) {
  const auto plan = planned({{"w", {1, 2, 1, 2}}},
                            {.rank = 1, .convolution = kernel_split::in});
  const auto& m = plan.matrices[0];
  ASSERT_EQ(m.columns, 4u);
  ASSERT_EQ(m.column_positions, 2u);
  floats adapter(plan.size());
  adapter[m.u_at] = 2;
  // Channel by channel: (3, 4), (0, 1). Place 0: 9 + 0; place 1: 16 + 1.
  for (std::size_t j = 0; j < 4; ++j)
    adapter[m.v_at + j] = std::array{3.f, 4.f, 0.f, 1.f}[j];
  floats gradient(plan.size(), 1);
  precondition(plan, adapter, 0.5, gradient);
  EXPECT_NEAR(gradient[m.u_at], 1 / (std::sqrt(81.0 + 289.0) + 0.5), 1e-6);
  EXPECT_NEAR(gradient[m.v_at], 1 / (4 + 0.5), 1e-6);
}

} // namespace troupe::models
