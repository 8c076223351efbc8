#include "models/adapters/adapter_factors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/adapters/spectrum.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::models::adapter_factors_test {

namespace {

dense product_of(const kernels::low_rank& x) {
  dense result{x.rows, x.columns, std::vector<double>(x.rows * x.columns)};
  for (std::size_t k = 0; k < x.scale.size(); ++k)
    for (std::size_t i = 0; i < x.rows; ++i)
      for (std::size_t j = 0; j < x.columns; ++j)
        result.at(i, j) += static_cast<double>(x.scale[k])
                           * static_cast<double>(x.u[k * x.rows + i])
                           * static_cast<double>(x.v[k * x.columns + j]);
  return result;
}

const tensor_list ten_by_ten = {{"output.weight", {10, 10}}};

adapter_plan of_rank(std::size_t rank,
                     factor_start start = factor_start::both_normal) {
  return planned(ten_by_ten, {.rank = rank, .start = start});
}

/// Singular values above rounding of what two adapters add together.
std::size_t numerical_rank(const adapter_plan& a, const floats& x,
                           const adapter_plan& b, const floats& y) {
  floats u, v;
  for (const auto& [plan, values] : {std::pair{&a, &x}, {&b, &y}}) {
    const auto& m = plan->matrices.front();
    const auto at = [&](std::size_t from, std::size_t count) {
      return std::span{*values}.subspan(from, count);
    };
    const auto us = at(m.u_at, m.rank * m.rows);
    const auto vs = at(m.v_at, m.rank * m.columns);
    u.insert(u.end(), us.begin(), us.end());
    v.insert(v.end(), vs.begin(), vs.end());
  }
  const floats ones(u.size() / 10, 1.f);
  std::size_t rank = 0;
  for (const auto s : singular_values(kernels::low_rank{10, 10, u, v, ones}))
    rank += s > 1e-4;
  return rank;
}

} // namespace

TEST(spectrum, is_that_of_matrices_that_one_knows) {
  const auto of = [](std::vector<double> values, std::size_t columns) {
    const auto rows = values.size() / columns;
    return singular_values(dense{rows, columns, std::move(values)});
  };
  EXPECT_EQ(of({0, 3, -4, 0}, 2), (std::vector<double>{4, 3}));
  // 3 and 1 in directions of 45 degrees: [[2, 1], [1, 2]].
  const auto turned = of({2, 1, 1, 2}, 2);
  EXPECT_NEAR(turned[0], 3, 1e-12);
  EXPECT_NEAR(turned[1], 1, 1e-12);
  EXPECT_NEAR(of({3, 4}, 2).front(), 5, 1e-12);
  EXPECT_EQ(of({3, 4}, 2).size(), 1u);
  EXPECT_EQ(of({0, 0, 0, 0}, 2), (std::vector<double>{0, 0}));
}

TEST(spectrum, of_a_product_is_that_of_the_matrix) {
  for (const auto& [rows, columns, rank] :
       {std::tuple{10, 10, 6}, {7, 12, 3}, {4, 9, 6}, {5, 5, 1}}) {
    const auto m = static_cast<std::size_t>(rows);
    const auto n = static_cast<std::size_t>(columns);
    const auto r = static_cast<std::size_t>(rank);
    const auto u = draw(r * m, 1), v = draw(r * n, 2), scale = draw(r, 3);
    const kernels::low_rank x{m, n, u, v, scale};
    const auto found = singular_values(x);
    const auto expected = singular_values(product_of(x));
    for (std::size_t j = 0; j < expected.size(); ++j)
      EXPECT_NEAR(j < found.size() ? found[j] : 0, expected[j], 1e-10)
        << rows << " x " << columns << ", " << j;
  }
}

// Specification, 1.2.
TEST(spectrum, has_the_rank_that_nine_tenths_of_its_sum_take) {
  const auto rank = [](std::vector<double> x) { return effective_rank(x); };
  EXPECT_EQ(rank({8, 8, 8}), 3u);
  EXPECT_EQ(rank({8, 8, 8, 8, 0}), 4u);
  EXPECT_EQ(rank({9, 1, 0}), 1u);
  EXPECT_EQ(rank({8.9, 1.1}), 2u);
  EXPECT_EQ(rank({0, 0}), 0u);
  EXPECT_EQ(rank({}), 0u);
}

TEST(adapter_factors, have_the_norm_of_what_they_add) {
  const auto plan = planned(mixed, {.rank = 2, .alpha = 5});
  const auto backend = cpu();
  const auto x = draw(plan.size(), 1);
  floats added(plan.model_size);
  const std::span<const float> adapters[] = {x};
  const double shares[] = {1};
  ASSERT_TRUE(
    (adapter_mixture{plan, *backend}.compose(added, adapters, shares, added)));
  double squares = 0;
  for (const auto v : added)
    squares += static_cast<double>(v) * static_cast<double>(v);
  EXPECT_NEAR(norm_of_products(plan, x), std::sqrt(squares),
              1e-5 * std::sqrt(squares));
  EXPECT_EQ(norm_of_products(plan, floats(plan.size())), 0);
}

TEST(adapter_factors, push_forward_is_what_a_small_step_changes) {
  const auto plan = planned(mixed, {.rank = 2, .alpha = 3});
  const auto backend = cpu();
  const auto x = draw(plan.size(), 1), d = draw(plan.size(), 2);
  floats found(plan.model_size);
  ASSERT_TRUE(push_forward({plan, x}, d, *backend, found));
  const auto composed = [&](float step) {
    auto at = x;
    for (std::size_t j = 0; j < at.size(); ++j)
      at[j] += step * d[j];
    floats out(plan.model_size);
    const floats base(plan.model_size);
    const std::span<const float> adapters[] = {at};
    const double shares[] = {1};
    EXPECT_TRUE(
      (adapter_mixture{plan, *backend}.compose(base, adapters, shares, out)));
    return out;
  };
  // A product is of degree two: central differences have no error.
  const auto above = composed(0.25f), below = composed(-0.25f);
  for (std::size_t j = 0; j < found.size(); ++j)
    EXPECT_NEAR(found[j], 2 * (above[j] - below[j]), 1e-4) << j;
}

// Specification, 10, point 13.
TEST(adapter_factors, products_that_begin_apart_add_their_ranks) {
  const auto common = of_rank(4), own = of_rank(2);
  const auto x = initial_adapter(common, 1);
  auto y = initial_adapter(own, 2);
  make_orthogonal(own, y, {common, x});
  EXPECT_EQ(numerical_rank(common, x, own, y), 6u);
  const auto& m = common.matrices.front();
  const auto& n = own.matrices.front();
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t l = 0; l < 2; ++l) {
      double u = 0, v = 0;
      for (std::size_t i = 0; i < 10; ++i) {
        u +=
          static_cast<double>(x[m.u_at + k * 10 + i] * y[n.u_at + l * 10 + i]);
        v +=
          static_cast<double>(x[m.v_at + k * 10 + i] * y[n.v_at + l * 10 + i]);
      }
      EXPECT_NEAR(u, 0, 1e-4);
      EXPECT_NEAR(v, 0, 1e-4);
    }
  // In the column space of the other: no new rank.
  for (std::size_t i = 0; i < 20; ++i)
    y[n.u_at + i] = x[m.u_at + i];
  EXPECT_EQ(numerical_rank(common, x, own, y), 4u);
}

TEST(adapter_factors, begin_as_the_plan_says) {
  const auto zeros = [](const adapter_plan& plan, std::size_t at) {
    const auto x = initial_adapter(plan, 1);
    return std::ranges::count(std::span{x}.subspan(at, 40), 0.f);
  };
  const auto both = of_rank(4), inner = of_rank(4, factor_start::inner_normal);
  const auto& m = both.matrices.front();
  EXPECT_EQ(zeros(both, m.u_at), 0);
  EXPECT_EQ(zeros(both, m.v_at), 0);
  EXPECT_EQ(zeros(inner, m.u_at), 40);
  EXPECT_EQ(zeros(inner, m.v_at), 0);
}

TEST(adapter_factors, truncation_leaves_the_first_ranks) {
  const auto plan = of_rank(4);
  const auto x = initial_adapter(plan, 1);
  auto y = x;
  truncate(plan, 3, y);
  const auto& m = plan.matrices.front();
  for (const auto at : {m.u_at, m.v_at})
    for (std::size_t j = 0; j < 40; ++j)
      EXPECT_EQ(y[at + j], j < 30 ? x[at + j] : 0) << j;
  auto all = x;
  truncate(plan, 9, all);
  EXPECT_EQ(all, x);
}

TEST(adapter_factors, a_tail_is_as_large_as_its_factors_and_has_their_slopes) {
  const auto plan = of_rank(4);
  const auto x = initial_adapter(plan, 1);
  const auto tail = [&](const floats& at) { return tail_norm({plan, at}, 3); };
  const auto& m = plan.matrices.front();
  double u = 0, v = 0;
  for (std::size_t j = 30; j < 40; ++j) {
    u += std::pow(static_cast<double>(x[m.u_at + j]), 2);
    v += std::pow(static_cast<double>(x[m.v_at + j]), 2);
  }
  EXPECT_NEAR(tail(x), std::sqrt(u * v), 1e-5);
  floats slopes(x.size(), 1.f);
  tail_norm({plan, x}, 3, 0.5, slopes);
  for (std::size_t j = 0; j < x.size(); ++j) {
    auto above = x, below = x;
    above[j] += 1.f / 64;
    below[j] -= 1.f / 64;
    EXPECT_NEAR(slopes[j] - 1, 0.5 * 32 * (tail(above) - tail(below)), 1e-3)
      << j;
  }
  auto cut = x;
  truncate(plan, 3, cut);
  EXPECT_EQ(tail(cut), 0);
}

TEST(adapter_factors, the_rank_of_a_sum_counts_each_matrix_once) {
  const auto plan = of_rank(2);
  auto x = floats(plan.size()), y = x;
  const auto& m = plan.matrices.front();
  x[m.u_at] = x[m.v_at] = 1; // e0 e0^T
  y[m.u_at + 1] = y[m.v_at + 1] = 1;
  using list = std::vector<planned_adapter>;
  using ranks = std::vector<std::size_t>;
  EXPECT_EQ(effective_ranks(list{{plan, x}}), ranks{1});
  EXPECT_EQ(effective_ranks(list{{plan, x}, {plan, y}}), ranks{2});
  EXPECT_EQ(effective_ranks(list{{plan, x}, {plan, x}}), ranks{1});
  EXPECT_EQ(effective_ranks(list{}), ranks{});
  // One that counts a hundredth is not seen beside it.
  auto small = plan;
  small.matrices.front().scale = 0.01;
  EXPECT_EQ(effective_ranks(list{{plan, x}, {small, y}}), ranks{1});
}

TEST(product_gap, is_what_averaging_factors_leaves_out) {
  const auto plan = planned({{"w", {1, 1}}}, {.rank = 1});
  const floats a{1, 2}, b{3, -1};
  // The mean of products is -1.75, the product of means 2.5 times -0.25.
  const merged_offer both[] = {{a, 0.25}, {b, 0.75}};
  EXPECT_NEAR(product_gap(plan, both), 1.125, 1e-6);
  const merged_offer same[] = {{a, 0.25}, {a, 0.75}};
  EXPECT_NEAR(product_gap(plan, same), 0, 1e-6);
  // A stale offer counts with half: the rest stays where it was, at zero.
  const merged_offer half[] = {{a, 0.5}};
  EXPECT_NEAR(product_gap(plan, half), 0.5, 1e-6);
  const auto thrice = planned({{"w", {1, 1}}}, {.rank = 1, .alpha = 3});
  EXPECT_NEAR(product_gap(thrice, half), 1.5, 1e-6);
}

TEST(product_gap, is_the_norm_over_all_matrices_wherever_they_began) {
  const auto plan = planned(mixed, {.rank = 2});
  const std::vector<double> parts{0.2, 0.3, 0.5};
  const auto base = draw(plan.size(), 9);
  std::vector<floats> deltas, all;
  std::vector<merged_offer> offers;
  for (std::size_t k = 0; k < 3; ++k)
    deltas.push_back(draw(plan.size(), k));
  floats mean = base;
  for (std::size_t k = 0; k < 3; ++k) {
    offers.push_back({deltas[k], parts[k]});
    all.push_back(base);
    for (std::size_t j = 0; j < base.size(); ++j) {
      all[k][j] += deltas[k][j];
      mean[j] += static_cast<float>(parts[k]) * deltas[k][j];
    }
  }
  double squares = 0;
  for (const auto& m : plan.matrices) {
    const auto product = [&](const floats& of) {
      const std::vector<float> ones(m.rank, 1.f);
      const std::span<const float> x{of};
      return product_of({m.rows, m.columns, x.subspan(m.u_at, m.rank * m.rows),
                         x.subspan(m.v_at, m.rank * m.columns), ones});
    };
    auto gap = product(mean);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto one = product(all[k]);
      for (std::size_t j = 0; j < gap.values.size(); ++j)
        gap.values[j] -= parts[k] * one.values[j];
    }
    for (const auto x : gap.values)
      squares += x * x;
  }
  EXPECT_NEAR(product_gap(plan, offers), std::sqrt(squares), 1e-4);
}

} // namespace troupe::models::adapter_factors_test
