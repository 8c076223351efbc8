#include "models/tasks/quadratic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace troupe::models::quadratic_test {

namespace {

/// Two clients in one dimension that can be checked by hand.
std::shared_ptr<const quadratic_problem> two_clients() {
  quadratic_problem x{
    .how = {.dimension = 1, .clients = 2, .rows_per_client = 1},
    .curvature = {1, 0.5},
    .centre = {0, 3},
    .row_centre = {0, 3}};
  return std::make_shared<const quadratic_problem>(std::move(x));
}

const quadratic_options many{
  .seed = 3, .dimension = 5, .clients = 4, .rows_per_client = 6, .noise = 0.5};

} // namespace

TEST(quadratic, loss_and_gradient_are_those_of_the_formula) {
  quadratic model{two_clients()};
  model.parameters()[0] = 1;
  const std::uint32_t first[]{0}, both[]{0, 1};
  EXPECT_DOUBLE_EQ(*model.backward(first, 0), 0.5);
  EXPECT_FLOAT_EQ(model.gradient()[0], 1);
  // Added to, not replaced: (1 - 1) / 2 = 0 more.
  EXPECT_DOUBLE_EQ(*model.backward(both, 0), 0.75);
  EXPECT_FLOAT_EQ(model.gradient()[0], 1);
}

TEST(quadratic, the_optimum_is_where_the_weighted_gradients_cancel) {
  // 1 w + 0.5 (w - 3) = 0.
  EXPECT_DOUBLE_EQ(optimum(*two_clients(), std::vector{1.0, 1.0})[0], 1);
  // 2 w + 0.5 (w - 3) = 0.
  EXPECT_DOUBLE_EQ(optimum(*two_clients(), std::vector{2.0, 1.0})[0], 0.6);
}

TEST(quadratic, the_fixed_point_of_averaging_is_one_of_its_rounds) {
  const auto x = make_quadratic_problem(many);
  const std::vector<double> weights{1, 2, 3, 4};
  const local_descent how{.rate = 0.3, .steps = 7};
  const auto w = fixed_point_of_averaging(*x, weights, how);
  for (std::size_t j = 0; j < w.size(); ++j) {
    double mean = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      auto local = w[j];
      for (std::uint64_t i = 0; i < how.steps; ++i)
        local -= how.rate * x->curvature[k * w.size() + j]
                 * (local - x->mean_centre(k)[j]);
      mean += weights[k] * local / 10;
    }
    EXPECT_NEAR(mean, w[j], 1e-12);
  }
}

TEST(quadratic, one_local_step_has_no_bias_and_many_have) {
  const auto x = make_quadratic_problem(many);
  const std::vector<double> weights(4, 1.0);
  const auto best = optimum(*x, weights);
  const auto one =
    fixed_point_of_averaging(*x, weights, {.rate = 0.3, .steps = 1});
  const auto ten =
    fixed_point_of_averaging(*x, weights, {.rate = 0.3, .steps = 10});
  double bias = 0;
  for (std::size_t j = 0; j < best.size(); ++j) {
    EXPECT_NEAR(one[j], best[j], 1e-12);
    bias = std::max(bias, std::abs(ten[j] - best[j]));
  }
  EXPECT_GT(bias, 0.01);
}

TEST(quadratic, the_gradient_is_the_slope_of_the_loss) {
  quadratic model{make_quadratic_problem(many)};
  const auto w = model.initial_parameters(9);
  std::ranges::copy(w, model.parameters().begin());
  const std::vector<std::uint32_t> rows{0, 5, 17, 17};
  ASSERT_TRUE(model.backward(rows, 0));
  const std::vector<float> slope(model.gradient().begin(),
                                 model.gradient().end());
  for (std::size_t j = 0; j < w.size(); ++j) {
    const float step = 1.f / 64;
    model.parameters()[j] = w[j] + step;
    const auto above = *model.backward(rows, 0);
    model.parameters()[j] = w[j] - step;
    const auto below = *model.backward(rows, 0);
    model.parameters()[j] = w[j];
    EXPECT_NEAR((above - below) / (2 * step), slope[j], 1e-4);
  }
}

TEST(quadratic, the_test_set_has_one_row_per_client_without_noise) {
  const auto x = make_quadratic_problem(many);
  quadratic model{x};
  for (std::size_t j = 0; j < many.dimension; ++j)
    model.parameters()[j] = static_cast<float>(x->centre[many.dimension + j]);
  const std::uint32_t second[]{1};
  const auto found = model.evaluate(split::test, second);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->loss, 0, 1e-12);
  EXPECT_EQ(found->count, 1u);
  EXPECT_EQ(found->correct, 0u);
}

TEST(quadratic, a_problem_is_a_function_of_its_seed) {
  auto other = many;
  other.seed = 4;
  EXPECT_EQ(make_quadratic_problem(many)->row_centre,
            make_quadratic_problem(many)->row_centre);
  EXPECT_NE(make_quadratic_problem(many)->row_centre,
            make_quadratic_problem(other)->row_centre);
}

TEST(quadratic, a_row_that_does_not_exist_is_an_error) {
  quadratic model{two_clients()};
  const std::uint32_t third[]{2};
  const auto found = model.evaluate(split::test, third);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::invalid_argument);
  EXPECT_EQ(found.error().context, "quadratic: row 2 of 2");
}

} // namespace troupe::models::quadratic_test
