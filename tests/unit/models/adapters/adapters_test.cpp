// Adapters of low rank: what can be left out, that they change nothing at
// first, that a mixture of them is the layer that is claimed, and the way back.

#include "models/adapters/adapters.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/support/small_adapters.hpp"

namespace troupe::models::adapters_test {

namespace {

constexpr kernel_split splits[] = {
  kernel_split::none,     kernel_split::in,     kernel_split::out,
  kernel_split::balanced, kernel_split::filter, kernel_split::balanced_2d};

double inner(const floats& a, const floats& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

} // namespace

TEST(adapters, leave_out_what_is_switched_off) {
  adapter_options how{.linear = false, .convolution = kernel_split::none};
  EXPECT_FALSE(plan_adapters(mixed, how)); // Biases belong to adapted layers.
  how.norm = true;
  const auto norms = planned(mixed, how);
  EXPECT_EQ(norms.size(), 8u);
  EXPECT_EQ(norms.tensors[0].name, "norm.weight");
  how = {.rank = 2, .linear = false};
  EXPECT_EQ(planned(mixed, how).matrices.size(), 1u);
  EXPECT_EQ(planned(mixed, how).vectors.size(), 1u);
}

TEST(adapters, change_nothing_at_first) {
  const auto arithmetic = cpu();
  for (const auto split : splits)
    for (const auto start :
         {factor_start::inner_random, factor_start::outer_random}) {
      const auto plan = planned(
        mixed, {.rank = 2, .convolution = split, .norm = true, .start = start});
      const auto base = draw(plan.model_size, 1);
      const auto a = initial_adapter(plan, 2);
      const auto b = initial_adapter(plan, 3);
      EXPECT_NE(a, b);
      floats out(base.size());
      adapter_mixture mix{plan, *arithmetic};
      const double shares[] = {0.3, 0.7};
      ASSERT_TRUE(mix.compose(base, views{a, b}, shares, out));
      EXPECT_EQ(out, base);
    }
}

// <G, composed> is linear in shares and bilinear in factors: differences are
// exact but for rounding.
TEST(adapters, pull_a_gradient_back) {
  const auto arithmetic = cpu();
  for (const auto split : splits) {
    const auto plan =
      planned(mixed, {.rank = 2, .convolution = split, .norm = true});
    const auto base = draw(plan.model_size, 1);
    const auto gradient = draw(plan.model_size, 2);
    std::vector<floats> adapters{draw(plan.size(), 3), draw(plan.size(), 4)};
    std::vector<double> shares{0.25, 0.5};
    adapter_mixture mix{plan, *arithmetic};
    const auto value = [&] {
      floats out(base.size());
      EXPECT_TRUE(
        mix.compose(base, views{adapters[0], adapters[1]}, shares, out));
      return inner(gradient, out);
    };
    adapter_mixture::slopes found;
    ASSERT_TRUE(
      mix.pull_back(gradient, views{adapters[0], adapters[1]}, shares, found));
    const auto slope_at = [&](auto& at) {
      const auto before = at;
      at = before + 1;
      const auto above = value();
      at = before - 1;
      const auto below = value();
      at = before;
      return (above - below) / 2;
    };
    for (std::size_t c = 0; c < 2; ++c) {
      EXPECT_NEAR(slope_at(shares[c]), found.shares[c], 1e-3);
      for (std::size_t j = 0; j < plan.size(); ++j)
        EXPECT_NEAR(slope_at(adapters[c][j]), found.adapters[c][j], 1e-3)
          << static_cast<int>(split) << ' ' << j;
    }
  }
}

// Rank 2 and alpha 6: three times u0 v0^T + u1 v1^T.
TEST(adapters, count_alpha_over_their_rank_or_its_root) {
  const auto arithmetic = cpu();
  const tensor_list model{{"w.weight", {2, 2}}, {"w.bias", {2}}};
  const floats adapter{1, 2, 0, 1, 3, 0, 1, 1}; // u0, u1, v0, v1.
  const floats base(6), gradient{1, 0, 0, 2, 5, 7};
  const auto composed = [&](const adapter_plan& plan) {
    floats out(6);
    EXPECT_TRUE((adapter_mixture{plan, *arithmetic}.compose(
      base, views{adapter}, std::vector<double>{0.5}, out)));
    return out;
  };
  const auto by_rank = planned(model, {.rank = 2, .alpha = 6, .bias = false});
  EXPECT_EQ(by_rank.matrices[0].scale, 3);
  EXPECT_EQ(composed(by_rank), (floats{4.5f, 0, 10.5f, 1.5f, 0, 0}));
  const auto by_root = planned(
    model, {.rank = 2, .alpha = 6, .alpha_over_root = true, .bias = false});
  EXPECT_NEAR(by_root.matrices[0].scale, 6 / std::sqrt(2.0), 1e-12);
  EXPECT_EQ(planned(model, {.rank = 2}).matrices[0].scale, 1);
  adapter_mixture::slopes found;
  ASSERT_TRUE((adapter_mixture{by_rank, *arithmetic}.pull_back(
    gradient, views{adapter}, std::vector<double>{0.5}, found)));
  // 1.5 G v of each rank, then 1.5 G^T u; and 3 u^T G v.
  EXPECT_EQ(found.adapters.front(), (floats{4.5f, 0, 1.5f, 3, 1.5f, 6, 0, 3}));
  EXPECT_NEAR(found.shares.front(), 3 * (3 + 2), 1e-6);
}

namespace {

struct axis {
  std::size_t stride = 1, padding = 0, dilation = 1;
};

/// A convolution of one image, channel by channel.
floats convolved(const floats& image, std::size_t channels, std::size_t height,
                 std::size_t width, const floats& kernel,
                 std::array<std::size_t, 4> shape, axis down, axis across) {
  const auto [out, in, k1, k2] = shape;
  EXPECT_EQ(in, channels);
  const auto extent = [](std::size_t n, std::size_t k, const axis& x) {
    return (n + 2 * x.padding - x.dilation * (k - 1) - 1) / x.stride + 1;
  };
  const auto rows = extent(height, k1, down);
  const auto columns = extent(width, k2, across);
  floats result;
  for (std::size_t i = 0; i < out; ++i)
    for (std::size_t y = 0; y < rows; ++y)
      for (std::size_t x = 0; x < columns; ++x) {
        double sum = 0;
        for (std::size_t j = 0; j < in; ++j)
          for (std::size_t a = 0; a < k1; ++a)
            for (std::size_t b = 0; b < k2; ++b) {
              const auto from_y = y * down.stride + a * down.dilation;
              const auto from_x = x * across.stride + b * across.dilation;
              if (from_y < down.padding || from_y >= height + down.padding
                  || from_x < across.padding
                  || from_x >= width + across.padding)
                continue;
              sum +=
                static_cast<double>(
                  image[(j * height + from_y - down.padding) * width + from_x
                        - across.padding])
                * static_cast<double>(kernel[((i * in + j) * k1 + a) * k2 + b]);
            }
        result.push_back(static_cast<float>(sum));
      }
  return result;
}

} // namespace

// Specification, 3.3: V first with stride, padding and dilation of the first
// axis, then U with those of the second, is the composed kernel.
TEST(adapters, of_a_convolution_are_two_convolutions) {
  const auto arithmetic = cpu();
  constexpr std::size_t in = 2, out = 4, k1 = 3, k2 = 5, rank = 2;
  constexpr std::size_t height = 11, width = 13;
  const auto plan = planned({{"w", {out, in, k1, k2}}}, {.rank = rank});
  const auto& m = plan.matrices.at(0);
  // 4 * 5 + 2 * 3 is more than 4 * 3 + 2 * 5: the longer axis goes inwards.
  ASSERT_EQ(m.rows, out * k1);
  ASSERT_EQ(m.columns, in * k2);
  const auto adapter = draw(plan.size(), 1);
  const auto image = draw(in * height * width, 2);
  floats composed(plan.model_size);
  adapter_mixture mix{plan, *arithmetic};
  const double one[] = {1};
  ASSERT_TRUE(
    mix.compose(floats(plan.model_size), views{adapter}, one, composed));
  // As kernels of their own: V is rank x in x 1 x k2, U is out x rank x k1 x 1.
  const floats v(adapter.begin() + static_cast<std::ptrdiff_t>(m.v_at),
                 adapter.begin()
                   + static_cast<std::ptrdiff_t>(m.v_at + rank * m.columns));
  floats u(out * rank * k1);
  for (std::size_t i = 0; i < out; ++i)
    for (std::size_t k = 0; k < rank; ++k)
      for (std::size_t a = 0; a < k1; ++a)
        u[(i * rank + k) * k1 + a] = adapter[m.u_at + k * m.rows + i * k1 + a];
  const axis down{.stride = 2, .padding = 1, .dilation = 2};
  const axis across{.stride = 3, .padding = 2, .dilation = 1};
  const auto whole = convolved(image, in, height, width, composed,
                               {out, in, k1, k2}, down, across);
  const auto between =
    convolved(image, in, height, width, v, {rank, in, 1, k2}, {}, across);
  const auto twice =
    convolved(between, rank, height, between.size() / rank / height, u,
              {out, rank, k1, 1}, down, {});
  ASSERT_EQ(whole.size(), twice.size());
  for (std::size_t j = 0; j < whole.size(); ++j)
    EXPECT_NEAR(whole[j], twice[j], 1e-4) << j;
}

} // namespace troupe::models::adapters_test
