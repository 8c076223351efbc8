#include "models/tasks/low_rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/adapters/spectrum.hpp"

namespace troupe::models {

namespace {

std::vector<double> spectrum_of(const std::vector<float>& x) {
  return singular_values(dense{10, 10, {x.begin(), x.end()}});
}

std::size_t rank_of(const std::vector<float>& x) {
  std::size_t rank = 0;
  for (const auto s : spectrum_of(x))
    rank += s > 1e-4;
  return rank;
}

std::vector<float> difference(const low_rank_problem& x) {
  auto result = x.truths[0];
  for (std::size_t j = 0; j < result.size(); ++j)
    result[j] -= x.truths[1][j];
  return result;
}

} // namespace

// Specification, 8.3.2 to 8.3.5.
TEST(low_rank_problem, has_the_sizes_and_ranks_of_the_publication) {
  const auto x = make_low_rank_problem({});
  EXPECT_EQ(x.rows->rows(split::train), 1400u);
  EXPECT_EQ(x.rows->rows(split::test), 600u);
  EXPECT_EQ(x.rows->clients.train[1].front(), 700u);
  EXPECT_EQ(rank_of(x.truths[0]), 3u);
  EXPECT_EQ(rank_of(x.truths[1]), 4u);
  EXPECT_EQ(rank_of(difference(x)), 7u);
  EXPECT_EQ(size_of(regression{x.rows, {}}.parameter_list()), 100u);
}

TEST(low_rank_problem, aligned_truths_differ_by_what_own_adapters_can_hold) {
  const auto x =
    make_low_rank_problem({.task = low_rank_options::truth::aligned});
  for (const std::size_t k : {0u, 1u}) {
    const auto s = spectrum_of(x.truths[k]);
    EXPECT_EQ(effective_rank(s), 3 + k);
    for (std::size_t j = 0; j < 10; ++j)
      EXPECT_NEAR(s[j], j < 3 + k ? 8 : 0, 1e-4) << j;
  }
  EXPECT_EQ(rank_of(difference(x)), 3u);
}

TEST(low_rank_problem, has_errors_of_the_noise_where_the_truth_is_known) {
  const auto x = make_low_rank_problem({.seed = 3});
  regression model{x.rows, {}};
  for (const std::size_t k : {0u, 1u}) {
    std::ranges::copy(x.truths[k], model.parameters().begin());
    const auto floor = k == 0 ? 0.1 : 0.4; // Ten targets of 0.01 and 0.04.
    const auto loss =
      model.evaluate(split::train, x.rows->clients.train[k])->mean_loss();
    EXPECT_NEAR(loss, floor, 0.1 * floor);
  }
  EXPECT_NE(x.rows->train.targets,
            make_low_rank_problem({.seed = 4}).rows->train.targets);
  EXPECT_EQ(model.initial_parameters(1), std::vector<float>(100));
}

} // namespace troupe::models
