// Centring: what adapters have in common goes into the base, and the mixture
// stays what it was, but for what a rank cannot hold.

#include "models/adapters/centring.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/adapters/spectrum.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::models::centring_test {

namespace {

/// A base with adapters on it.
struct centred {
  adapter_plan plan;
  floats base;
  std::vector<floats> adapters;

  floats mixed_by(const std::vector<double>& shares) const {
    const auto arithmetic = cpu();
    floats out(base.size());
    EXPECT_TRUE(
      adapter_mixture(plan, *arithmetic)
        .compose(base, views{adapters.begin(), adapters.end()}, shares, out));
    return out;
  }

  centred after() const {
    auto x = *this;
    const auto arithmetic = cpu();
    EXPECT_TRUE(centre(x.plan, *arithmetic, x.base, x.adapters));
    return x;
  }
};

centred drawn(const tensor_list& model, const adapter_options& how,
              std::size_t count) {
  centred x{.plan = planned(model, how), .base = {}, .adapters = {}};
  x.base = draw(x.plan.model_size, 1);
  for (std::size_t c = 0; c < count; ++c)
    x.adapters.push_back(draw(x.plan.size(), 2 + c));
  return x;
}

double distance(const floats& a, const floats& b) {
  double squares = 0;
  for (std::size_t j = 0; j < a.size(); ++j)
    squares += std::pow(static_cast<double>(a[j] - b[j]), 2);
  return std::sqrt(squares);
}

} // namespace

// Specification, 2.4.
TEST(centring, has_the_published_example) {
  const centred x{
    .plan = planned({{"w", {1}}}, {}), .base = {5}, .adapters = {{4}, {6}}};
  const auto found = x.after();
  EXPECT_EQ(found.base, floats{10});
  EXPECT_EQ(found.adapters, (std::vector<floats>{{-1}, {1}}));
}

TEST(centring, changes_no_mixture_where_the_rank_has_room) {
  for (const auto split : {kernel_split::balanced_2d, kernel_split::in,
                           kernel_split::out, kernel_split::filter}) {
    const auto x =
      drawn(mixed, {.rank = 12, .convolution = split, .norm = true}, 3);
    const auto found = x.after();
    for (const std::vector<double>& shares :
         {std::vector{1., 0., 0.}, std::vector{0.2, 0.3, 0.5}})
      EXPECT_LT(distance(found.mixed_by(shares), x.mixed_by(shares)), 1e-4);
    // Nothing is left in common.
    const std::vector<double> even(3, 1.0 / 3);
    EXPECT_LT(distance(found.mixed_by(even), found.base), 1e-4);
  }
}

TEST(centring, loses_what_further_singular_values_were) {
  const auto x = drawn({{"w", {9, 7}}, {"b", {9}}}, {.rank = 2}, 3);
  const auto found = x.after();
  std::vector<double> lost;
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<double> one(3);
    one[c] = 1;
    const auto own = x.mixed_by(one);
    const auto mean = x.mixed_by({1.0 / 3, 1.0 / 3, 1.0 / 3});
    dense rest{9, 7, {}};
    for (std::size_t j = 0; j < 63; ++j)
      rest.values.push_back(static_cast<double>(own[j] - mean[j]));
    double squares = 0;
    const auto values = singular_values(rest);
    for (std::size_t k = 2; k < values.size(); ++k)
      squares += values[k] * values[k];
    lost.push_back(std::sqrt(squares));
    EXPECT_GT(lost[c], 0.1);
    EXPECT_NEAR(distance(found.mixed_by(one), own), lost[c], 1e-4);
  }
  const std::vector<double> shares{0.2, 0.3, 0.5};
  EXPECT_LE(distance(found.mixed_by(shares), x.mixed_by(shares)),
            0.2 * lost[0] + 0.3 * lost[1] + 0.5 * lost[2] + 1e-4);
  // Biases have no rank: all that differs is in the matrix.
  for (std::size_t j = 63; j < 72; ++j)
    EXPECT_NEAR(found.mixed_by(shares)[j], x.mixed_by(shares)[j], 1e-5);
}

TEST(centring, halves_what_is_left_between_the_factors) {
  const auto x = drawn({{"w", {9, 7}}}, {.rank = 2}, 2).after();
  const auto& m = x.plan.matrices[0];
  for (std::size_t k = 0; k < m.rank; ++k) {
    double u = 0, v = 0;
    for (std::size_t i = 0; i < m.rows; ++i)
      u += std::pow(x.adapters[0][m.u_at + k * m.rows + i], 2);
    for (std::size_t i = 0; i < m.columns; ++i)
      v += std::pow(x.adapters[0][m.v_at + k * m.columns + i], 2);
    EXPECT_NEAR(u, v, 1e-4);
  }
}

// Both factors at zero would stay there for ever.
TEST(centring, leaves_adapters_as_they_began) {
  for (const auto start :
       {factor_start::inner_random, factor_start::outer_random}) {
    auto x = drawn(mixed, {.rank = 2, .start = start}, 0);
    x.adapters = {initial_adapter(x.plan, 1), initial_adapter(x.plan, 2)};
    const auto found = x.after();
    EXPECT_EQ(found.base, x.base);
    EXPECT_EQ(found.adapters, x.adapters);
    // Also where there is nothing but what they have in common.
    x.adapters = {draw(x.plan.size(), 3)};
    const auto alone = x.after();
    const auto& m = x.plan.matrices[0];
    const bool outer = start == factor_start::outer_random;
    EXPECT_EQ(alone.adapters[0][outer ? m.v_at : m.u_at], 0);
    EXPECT_EQ(alone.adapters[0][outer ? m.u_at : m.v_at],
              x.adapters[0][outer ? m.u_at : m.v_at]);
    EXPECT_LT(distance(alone.mixed_by({1}), x.mixed_by({1})), 1e-4);
  }
}

} // namespace troupe::models::centring_test
