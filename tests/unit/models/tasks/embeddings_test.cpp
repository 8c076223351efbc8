#include "models/embeddings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "models/tasks/quadratic.hpp"
#include "models/tasks/regression.hpp"

namespace troupe::models::embeddings_test {

namespace {

/// Two rows of two values, one target each.
std::shared_ptr<const regression_problem> two_rows() {
  regression_problem x;
  x.inputs = 2;
  x.targets = 1;
  x.train = {.inputs = {1, 2, 3, -1}, .targets = {0, 0}};
  x.test = {.inputs = {-1, 0.5f}, .targets = {0}};
  return std::make_shared<const regression_problem>(std::move(x));
}

std::vector<float> embedding(objective& x, split part, std::uint32_t row) {
  auto* of = x.embeddings();
  EXPECT_NE(of, nullptr);
  std::vector<float> out(of->width());
  const auto done = of->embed(part, row, out);
  EXPECT_TRUE(done) << done.error().context;
  return out;
}

std::string refusal(objective& x, split part, std::uint32_t row) {
  std::vector<float> out(x.embeddings()->width());
  const auto done = x.embeddings()->embed(part, row, out);
  return done ? "accepted" : done.error().context;
}

} // namespace

TEST(embeddings_of_regression, are_what_goes_into_the_last_layer) {
  regression model{two_rows(), {3}};
  // Three rows of weights, three biases, then the output.
  const std::vector<float> values{1, 0, 0, 1, -1, 1, 0, 0.5f, 0, 9, 9, 9, 9};
  std::ranges::copy(values, model.parameters().begin());
  EXPECT_EQ(embedding(model, split::train, 0),
            (std::vector<float>{1, 2.5f, 1}));
  EXPECT_EQ(embedding(model, split::train, 1), (std::vector<float>{3, 0, 0}));
  EXPECT_EQ(embedding(model, split::test, 0), (std::vector<float>{0, 1, 1.5f}));
  EXPECT_EQ(refusal(model, split::test, 1), "regression: row 1 of 1");
}

TEST(embeddings_of_regression, are_the_inputs_of_a_model_of_one_layer) {
  regression model{two_rows(), {}};
  EXPECT_EQ(embedding(model, split::train, 1), (std::vector<float>{3, -1}));
}

TEST(embeddings_of_regression, change_nothing) {
  regression model{two_rows(), {3}};
  std::ranges::copy(model.initial_parameters(1), model.parameters().begin());
  const std::vector<std::uint32_t> rows{0, 1};
  const auto loss = *model.backward(rows, 0);
  const std::vector<float> gradient(model.gradient().begin(),
                                    model.gradient().end());
  embedding(model, split::test, 0);
  EXPECT_TRUE(std::ranges::equal(model.gradient(), gradient));
  std::ranges::fill(model.gradient(), 0.f);
  EXPECT_EQ(*model.backward(rows, 0), loss);
  EXPECT_TRUE(std::ranges::equal(model.gradient(), gradient));
}

TEST(embeddings_of_quadratics, are_where_a_row_pulls_to) {
  const auto problem =
    std::make_shared<const quadratic_problem>(quadratic_problem{
      .how = {.dimension = 2, .clients = 2, .rows_per_client = 2},
      .curvature = {1, 1, 1, 1},
      .centre = {1, 2, 3, 4},
      .row_centre = {0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4}});
  quadratic model{problem};
  model.parameters()[0] = 7;
  EXPECT_EQ(embedding(model, split::train, 2), (std::vector<float>{2.5f, 3}));
  EXPECT_EQ(embedding(model, split::test, 1), (std::vector<float>{3, 4}));
  EXPECT_EQ(refusal(model, split::train, 4), "quadratic: row 4 of 4");
  EXPECT_EQ(refusal(model, split::test, 2), "quadratic: row 2 of 2");
}

} // namespace troupe::models::embeddings_test
