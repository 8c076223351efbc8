// The Hessian along a direction, held against differences of gradients.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/tasks/quadratic.hpp"
#include "models/tasks/regression.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::models {

namespace {

std::vector<std::uint32_t> first_rows(std::uint32_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

/// What the gradient changes by from w - step d to w + step d, per 2 step.
floats difference_along(objective& model, const floats& at, const floats& d,
                        std::span<const std::uint32_t> rows, float step) {
  floats result(at.size());
  for (const float sign : {1.f, -1.f}) {
    std::ranges::fill(model.gradient(), 0.f);
    for (std::size_t j = 0; j < at.size(); ++j)
      model.parameters()[j] = at[j] + sign * step * d[j];
    EXPECT_TRUE(model.backward(rows, 0));
    for (std::size_t j = 0; j < at.size(); ++j)
      result[j] += sign * model.gradient()[j] / (2 * step);
  }
  std::ranges::copy(at, model.parameters().begin());
  std::ranges::fill(model.gradient(), 0.f);
  return result;
}

void expect_curvature(objective& model, std::span<const std::uint32_t> rows) {
  const auto size = model.parameters().size();
  const auto at = model.initial_parameters(5);
  const auto direction = draw(size, 7);
  const auto expected =
    difference_along(model, at, direction, rows, 1.f / 8192);
  // It is added, like a gradient.
  std::ranges::fill(model.gradient(), 1.f);
  ASSERT_TRUE(model.curve(rows, 0, direction));
  double length = 0;
  for (std::size_t j = 0; j < size; ++j) {
    EXPECT_NEAR(model.gradient()[j] - 1, expected[j],
                2e-3 * (1 + std::abs(expected[j])))
      << j;
    length += std::abs(static_cast<double>(expected[j]));
  }
  EXPECT_GT(length, 0.1) << "the model is not curved along this direction";
}

} // namespace

TEST(curvature, of_a_regression_is_what_its_gradient_changes_by) {
  const auto x = make_cluster_problem({.clients = 1, .train_rows = 12});
  for (const auto& hidden :
       {std::vector<std::size_t>{}, {7}, std::vector<std::size_t>{5, 4}}) {
    SCOPED_TRACE(hidden.size());
    regression model{x, hidden};
    expect_curvature(model, first_rows(12));
  }
  auto sums = *x;
  sums.sums_targets = true;
  regression model{std::make_shared<const regression_problem>(sums), {7}};
  expect_curvature(model, first_rows(12));
}

TEST(curvature, of_a_quadratic_is_what_its_gradient_changes_by) {
  quadratic model{make_quadratic_problem({.clients = 3})};
  expect_curvature(model, first_rows(2));
}

TEST(curvature, refuses_rows_that_are_not_there) {
  regression model{make_cluster_problem({}), {}};
  const std::uint32_t row[] = {70};
  EXPECT_FALSE(model.curve(row, 0, floats(33)));
}

} // namespace troupe::models
