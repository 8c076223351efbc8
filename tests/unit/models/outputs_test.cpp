// What models say, and how it is judged and mixed.

#include "models/outputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/tasks/quadratic.hpp"
#include "models/tasks/regression.hpp"

namespace troupe::models::outputs_test {

namespace {

using floats = std::vector<float>;

const std::vector<std::uint32_t> rows{3, 0, 5};

/// Judging what a model says, and pulling that back, is its own `backward`.
void expect_as_backward(objective& model) {
  auto& outputs = *model.outputs();
  const auto fresh = model.initial_parameters(7);
  std::ranges::copy(fresh, model.parameters().begin());
  const auto loss = model.backward(rows, 1);
  ASSERT_TRUE(loss);
  const floats gradient(model.gradient().begin(), model.gradient().end());
  std::ranges::fill(model.gradient(), 0.f);
  const auto said = outputs.speak(rows, 1);
  ASSERT_TRUE(said);
  floats slopes(said->values.size());
  const auto judged = outputs.judge(split::train, rows, said->values, slopes);
  EXPECT_NEAR(std::accumulate(judged.losses.begin(), judged.losses.end(), 0.0)
                / 3,
              *loss, 1e-6 * (1 + *loss));
  for (auto& s : slopes)
    s /= 3;
  // Others may have been live in between.
  std::ranges::fill(model.parameters(), 3.f);
  ASSERT_TRUE(outputs.speak(rows, 2));
  std::ranges::copy(fresh, model.parameters().begin());
  ASSERT_TRUE(said->pull_back(slopes));
  for (std::size_t j = 0; j < gradient.size(); ++j)
    EXPECT_NEAR(model.gradient()[j], gradient[j],
                1e-5 * (1 + std::abs(gradient[j])))
      << j;
  const auto scored = model.evaluate(split::train, rows);
  ASSERT_TRUE(scored);
  EXPECT_NEAR(scored->mean_loss(), *loss, 1e-6 * (1 + *loss));
}

} // namespace

TEST(outputs, judged_and_pulled_back_are_the_gradient) {
  regression two_layers{make_cluster_problem({.clients = 1, .groups = 1}), {4}};
  expect_as_backward(two_layers);
  quadratic bowl{make_quadratic_problem({.clients = 2, .rows_per_client = 4})};
  expect_as_backward(bowl);
}

// Softmax of (0, ln 3) is (1/4, 3/4).
TEST(outputs, of_classes_have_the_softmax_as_chances) {
  const floats logits{0, std::log(3.f), 0, std::log(3.f), 5, 5};
  floats slopes(6);
  const auto x =
    judge_logits(logits, std::vector<std::int64_t>{1, 0, 1}, 2, slopes);
  EXPECT_NEAR(x.losses[0], std::log(4.0 / 3), 1e-7);
  EXPECT_NEAR(x.losses[1], std::log(4.0), 1e-6);
  EXPECT_EQ(x.correct, 1u) << "the first of equals is the answer";
  EXPECT_NEAR(slopes[0], 0.25, 1e-6);
  EXPECT_NEAR(slopes[1], -0.25, 1e-6);
  EXPECT_NEAR(slopes[2], -0.75, 1e-6);
  const floats nothing{std::nanf(""), 0};
  EXPECT_EQ(judge_logits(nothing, std::vector<std::int64_t>{1}, 2, {}).correct,
            0u);
  const floats far{-1000, 1000};
  EXPECT_NEAR(judge_logits(far, std::vector<std::int64_t>{0}, 2, {}).losses[0],
              2000, 1e-3);
}

TEST(outputs, mix_as_numbers_or_as_chances) {
  const floats a{0, std::log(3.f)};
  const floats b{0, 0};
  floats numbers(2);
  add_said(a, 0.5, numbers);
  add_said(b, 0.5, numbers);
  EXPECT_NEAR(numbers[1], std::log(3.f) / 2, 1e-6);
  floats chances(2);
  add_chances(a, 2, 0.5, chances);
  add_chances(b, 2, 0.5, chances);
  EXPECT_NEAR(chances[0], 0.375, 1e-6);
  to_logits(chances);
  EXPECT_NEAR(chances[1] - chances[0], std::log(0.625 / 0.375), 1e-6);
}

} // namespace troupe::models::outputs_test
