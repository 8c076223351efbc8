#include "models/tasks/regression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.hpp"

namespace troupe::models {

namespace {

std::vector<std::uint32_t> all_rows(std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  for (std::size_t i = 0; i < count; ++i)
    rows[i] = static_cast<std::uint32_t>(i);
  return rows;
}

} // namespace

// Specification, 4.1 and 4.2.
TEST(cluster_problem, has_the_sizes_of_the_publication) {
  const auto linear = make_cluster_problem({});
  EXPECT_EQ(linear->inputs, 10u);
  EXPECT_EQ(linear->targets, 3u);
  EXPECT_EQ(linear->rows(split::train), 70u);
  EXPECT_EQ(linear->rows(split::test), 5000u);
  EXPECT_EQ(size_of(regression{linear, {}}.parameter_list()), 33u);
  const auto mlp =
    make_cluster_problem({.task = cluster_options::truth::mlp, .clients = 20});
  EXPECT_EQ(mlp->targets, 1u);
  EXPECT_EQ(size_of(regression{mlp, {20}}.parameter_list()), 241u);
}

TEST(cluster_problem, is_one_truth_for_each_group) {
  // A linear fit of one group's rows has no error; of two groups' it has.
  const auto loss_after_fitting = [](std::uint64_t seed, std::size_t groups) {
    const auto x = make_cluster_problem(
      {.seed = seed, .clients = 2, .groups = groups, .train_rows = 200});
    regression model{x, {}};
    for (int i = 0; i < 400; ++i) {
      EXPECT_TRUE(model.backward(all_rows(400), 0));
      for (std::size_t j = 0; j < model.parameters().size(); ++j) {
        model.parameters()[j] -= 0.5f * model.gradient()[j];
        model.gradient()[j] = 0;
      }
    }
    return model.evaluate(split::test, all_rows(1000))->mean_loss();
  };
  EXPECT_LT(loss_after_fitting(1, 1), 1e-8);
  EXPECT_GT(loss_after_fitting(1, 2), 1e-2);
  const auto a = make_cluster_problem({.seed = 3});
  const auto b = make_cluster_problem({.seed = 3});
  EXPECT_EQ(a->train.targets, b->train.targets);
  EXPECT_NE(a->train.targets, make_cluster_problem({.seed = 4})->train.targets);
}

TEST(regression, has_the_gradient_of_its_loss) {
  const auto x = make_cluster_problem({.clients = 1, .train_rows = 12});
  for (const auto& hidden :
       {std::vector<std::size_t>{}, {7}, std::vector<std::size_t>{5, 4}}) {
    regression model{x, hidden};
    const auto first = model.initial_parameters(5);
    std::ranges::copy(first, model.parameters().begin());
    const auto rows = all_rows(12);
    ASSERT_TRUE(model.backward(rows, 0));
    const std::vector<float> found(model.gradient().begin(),
                                   model.gradient().end());
    const auto loss = [&] { return *model.backward(rows, 0); };
    for (std::size_t j = 0; j < found.size(); ++j) {
      const float step = 1e-3f;
      model.parameters()[j] = first[j] + step;
      const auto above = loss();
      model.parameters()[j] = first[j] - step;
      const auto below = loss();
      model.parameters()[j] = first[j];
      EXPECT_NEAR(found[j], (above - below) / (2 * static_cast<double>(step)),
                  2e-3)
        << j;
    }
  }
}

TEST(regression, refuses_rows_that_are_not_there) {
  regression model{make_cluster_problem({}), {}};
  const std::uint32_t row[] = {70};
  EXPECT_FALSE(model.backward(row, 0));
  EXPECT_TRUE(model.evaluate(split::test, row));
}

} // namespace troupe::models
