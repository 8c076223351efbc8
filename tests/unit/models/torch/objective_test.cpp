#include "models/torch/objective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>
#include <stdexcept>

#include "core/random.hpp"
#include "models/outputs.hpp"
#include "tests/support/small_data.hpp"

namespace troupe::models::objective_test {

namespace {

using test::small_dataset;
using rows = std::vector<std::uint32_t>;

const rows some{0, 3, 5, 7};

std::vector<float> copied(std::span<const float> x) {
  return {x.begin(), x.end()};
}

std::unique_ptr<objective> make(const model_config& config,
                                std::shared_ptr<const dataset> data) {
  auto made = make_torch_objective(config, std::move(data));
  if (!made)
    throw std::runtime_error(made.error().context);
  const auto fresh = (*made)->initial_parameters(7);
  std::ranges::copy(fresh, (*made)->parameters().begin());
  return std::move(*made);
}

std::string refusal(const model_config& config,
                    std::shared_ptr<const dataset> data) {
  const auto made = make_torch_objective(config, std::move(data));
  return made ? "accepted" : made.error().context;
}

double loss_of(objective& x, const rows& which) {
  return x.evaluate(split::train, which)->mean_loss();
}

std::vector<float> gradient_of(objective& x, const rows& which) {
  std::ranges::fill(x.gradient(), 0.0f);
  EXPECT_TRUE(x.backward(which, 1));
  return copied(x.gradient());
}

struct subject {
  std::string name;
  model_config config;
  std::vector<std::int64_t> shape;
  std::size_t parameters;
};

void PrintTo(const subject& x, std::ostream* out) {
  *out << x.name;
}

class every_model : public ::testing::TestWithParam<subject> {
protected:
  std::shared_ptr<dataset> data_ =
    small_dataset({.shape = GetParam().shape, .classes = 3, .size = 12});
  std::unique_ptr<objective> model_ = make(GetParam().config, data_);
};

} // namespace

TEST_P(every_model, has_flat_aligned_parameters_with_a_list) {
  EXPECT_EQ(model_->parameters().size(), GetParam().parameters);
  EXPECT_EQ(size_of(model_->parameter_list()), GetParam().parameters);
  EXPECT_EQ(model_->gradient().size(), GetParam().parameters);
  EXPECT_EQ(model_->buffers().size(), 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(model_->parameters().data()) % 64,
            0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(model_->gradient().data()) % 64,
            0u);
}

TEST_P(every_model, is_loaded_by_writing_into_its_parameters) {
  const auto before = loss_of(*model_, some);
  std::ranges::fill(model_->parameters(), 0.0f);
  EXPECT_NEAR(loss_of(*model_, some), std::log(3.0), 1e-6);
  std::ranges::copy(model_->initial_parameters(7),
                    model_->parameters().begin());
  EXPECT_EQ(loss_of(*model_, some), before);
}

TEST_P(every_model, begins_as_a_function_of_the_seed) {
  const auto first = model_->initial_parameters(1);
  EXPECT_EQ(first, model_->initial_parameters(1));
  EXPECT_EQ(first, make(GetParam().config, data_)->initial_parameters(1));
  EXPECT_NE(first, model_->initial_parameters(2));
}

TEST_P(every_model, adds_gradients_up_until_they_are_zeroed) {
  ASSERT_TRUE(model_->backward(some, 1));
  const auto once = copied(model_->gradient());
  ASSERT_TRUE(model_->backward(some, 1));
  for (std::size_t i = 0; i < once.size(); ++i)
    ASSERT_NEAR(model_->gradient()[i], 2 * once[i],
                1e-6 + 1e-5 * std::abs(once[i]));
  EXPECT_EQ(gradient_of(*model_, some), once);
}

TEST_P(every_model, returns_the_mean_loss_of_the_rows) {
  EXPECT_NEAR(*model_->backward(some, 1), loss_of(*model_, some), 1e-5);
  EXPECT_NEAR(*model_->backward(rows{2, 2}, 1), loss_of(*model_, {2}), 1e-5);
}

// Others may have been live in between.
TEST_P(every_model, learns_from_what_it_said_as_from_the_loss) {
  const auto expected = gradient_of(*model_, some);
  const auto own = copied(model_->parameters());
  auto& outputs = *model_->outputs();
  const auto said = outputs.speak(some, 1);
  ASSERT_TRUE(said);
  std::vector<float> slopes(said->values.size());
  outputs.judge(split::train, some, said->values, slopes);
  for (auto& x : slopes)
    x /= static_cast<float>(some.size());
  const auto others = model_->initial_parameters(8);
  std::ranges::copy(others, model_->parameters().begin());
  const auto another = outputs.speak(some, 1);
  ASSERT_TRUE(another);
  EXPECT_NE(another->values, said->values);
  std::ranges::copy(own, model_->parameters().begin());
  std::ranges::fill(model_->gradient(), 0.0f);
  ASSERT_TRUE(said->pull_back(slopes));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(model_->gradient()[i], expected[i],
                1e-5f * (1 + std::abs(expected[i])))
      << i;
}

TEST_P(every_model, changes_nothing_by_an_evaluation) {
  const auto gradient = gradient_of(*model_, some);
  const auto parameters = copied(model_->parameters());
  const auto found = *model_->evaluate(split::test, some);
  EXPECT_EQ(found.count, 4u);
  EXPECT_EQ(copied(model_->parameters()), parameters);
  EXPECT_EQ(copied(model_->gradient()), gradient);
  EXPECT_EQ(gradient_of(*model_, some), gradient);
}

TEST_P(every_model, has_the_gradient_of_finite_differences) {
  const auto gradient = gradient_of(*model_, some);
  const auto norm = std::sqrt(std::inner_product(
    gradient.begin(), gradient.end(), gradient.begin(), 0.0));
  const auto begin = copied(model_->parameters());
  random_stream draws{3};
  for (int direction = 0; direction < 5; ++direction) {
    std::vector<float> along(begin.size());
    double slope = 0, length = 0;
    for (std::size_t i = 0; i < along.size(); ++i) {
      // Half along the gradient, half anywhere: a slope to see.
      along[i] = static_cast<float>(
        gradient[i] / norm + draws.normal() / std::sqrt(double(along.size())));
      slope += double{gradient[i]} * along[i];
      length += double{along[i]} * along[i];
    }
    const auto step = 2e-3 / std::sqrt(length);
    const auto loss_at = [&](double t) {
      for (std::size_t i = 0; i < begin.size(); ++i)
        model_->parameters()[i] = static_cast<float>(begin[i] + t * along[i]);
      return loss_of(*model_, some);
    };
    const auto difference = (loss_at(step) - loss_at(-step)) / (2 * step);
    EXPECT_NEAR(difference, slope, 0.01 * std::abs(slope) + 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(
  torch, every_model,
  ::testing::Values(
    subject{"softmax", {.kind = model_kind::softmax}, {4}, 15},
    subject{"mlp", {.kind = model_kind::mlp, .hidden = {8}}, {2, 2}, 67},
    subject{"deep_mlp", {.kind = model_kind::mlp, .hidden = {5, 6}}, {4}, 82},
    subject{"cnn", {.kind = model_kind::cnn}, {1, 8, 8}, 13635},
    subject{"colour_cnn", {.kind = model_kind::cnn}, {3, 8, 8}, 14435},
    subject{"lenet", {.kind = model_kind::lenet}, {1, 14, 14}, 23683}),
  [](const auto& x) { return x.param.name; });

TEST(torch_objective,
     has_the_models_of_the_publication_on_mixtures_of_adapters) {
  const auto cifar = [](std::int64_t classes) {
    return small_dataset(
      {.shape = {3, 32, 32}, .classes = classes, .size = 200});
  };
  const auto lenet = make({.kind = model_kind::lenet}, cifar(10));
  EXPECT_EQ(lenet->parameters().size(), 87'178u);
  const auto vgg8 = make({.kind = model_kind::vgg8}, cifar(100));
  EXPECT_EQ(vgg8->parameters().size(), 1'264'388u);
  // Dropout is of the training alone, and the seed draws it.
  const auto trained = *vgg8->backward(rows{0, 1, 2}, 1);
  EXPECT_EQ(*vgg8->backward(rows{0, 1, 2}, 1), trained);
  EXPECT_NE(*vgg8->backward(rows{0, 1, 2}, 2), trained);
  EXPECT_EQ(loss_of(*vgg8, {0, 1, 2}), loss_of(*vgg8, {0, 1, 2}));
}

TEST(torch_objective, gives_the_loss_that_one_computes_by_hand) {
  auto data = small_dataset({.shape = {2}, .classes = 2, .size = 1});
  data->train.inputs[0].values = std::vector<float>{1, 2};
  data->train.labels = {1};
  const auto model = make({.kind = model_kind::softmax}, data);
  // Logits: 0.5 * 1 + 0 * 2 + 0.25 = 0.75 and -1 + 2 * 0.5 + 0 = 0.
  std::ranges::copy(std::vector<float>{0.5f, 0, -1, 0.5f, 0.25f, 0},
                    model->parameters().begin());
  const auto chance = 1 / (1 + std::exp(0.75));
  EXPECT_NEAR(*model->backward(rows{0}, 1), -std::log(chance), 1e-6);
  const std::vector<double> expected{1 - chance, 2 * (1 - chance),
                                     chance - 1, 2 * (chance - 1),
                                     1 - chance, chance - 1};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(model->gradient()[i], expected[i], 1e-6);
}

TEST(torch_objective, reads_pixels_as_shares_of_255) {
  auto pixels = small_dataset({.shape = {2}, .classes = 2, .size = 1});
  pixels->train.inputs[0].values = std::vector<std::uint8_t>{51, 255};
  auto numbers = small_dataset({.shape = {2}, .classes = 2, .size = 1});
  numbers->train.inputs[0].values = std::vector<float>{51 / 255.0f, 1};
  pixels->test = pixels->train;
  numbers->test = numbers->train;
  EXPECT_EQ(loss_of(*make({.kind = model_kind::softmax}, pixels), {0}),
            loss_of(*make({.kind = model_kind::softmax}, numbers), {0}));
}

TEST(torch_objective, counts_right_answers_and_gives_ties_to_the_first) {
  auto data = small_dataset({.shape = {1}, .classes = 3, .size = 4});
  data->train.inputs[0].values = std::vector<float>{1, 1, -1, 0};
  data->train.labels = {0, 1, 2, 0};
  const auto model = make({.kind = model_kind::softmax}, data);
  const std::vector<float> weights{1, 0, -1,
                                   0, 0, 0}; // Three rows, three biases.
  std::ranges::copy(weights, model->parameters().begin());
  const auto all = rows{0, 1, 2, 3};
  EXPECT_EQ(model->evaluate(split::train, all)->correct, 3u);
  data->train.labels = {0, 1, 2, 1};
  EXPECT_EQ(model->evaluate(split::train, all)->correct, 2u);
  model->parameters()[0] = NAN;
  EXPECT_EQ(model->evaluate(split::train, all)->correct, 0u);
}

TEST(torch_objective, scores_many_rows_as_the_sum_of_their_parts) {
  const auto data = small_dataset({.shape = {3}, .classes = 4, .size = 2500});
  const auto model = make({.kind = model_kind::mlp, .hidden = {5}}, data);
  rows all(2500);
  std::iota(all.begin(), all.end(), 0u);
  const auto whole = *model->evaluate(split::test, all);
  scores parts;
  for (const auto row : all)
    parts += *model->evaluate(split::test, rows{row});
  EXPECT_EQ(whole.count, 2500u);
  EXPECT_EQ(whole.correct, parts.correct);
  EXPECT_NEAR(whole.loss, parts.loss, 1e-3);
  EXPECT_EQ(model->evaluate(split::test, rows{})->count, 0u);
}

TEST(torch_objective, trains_a_resnet18_of_the_known_size) {
  const auto data =
    small_dataset({.shape = {3, 8, 8}, .classes = 10, .size = 4});
  const auto model = make({.kind = model_kind::resnet18}, data);
  EXPECT_EQ(model->parameters().size(), 11'173'962u); // As with batch norm.
  const auto before = model->backward(rows{0, 1}, 1);
  ASSERT_TRUE(before);
  for (std::size_t i = 0; i < model->parameters().size(); ++i)
    model->parameters()[i] -= 0.01f * model->gradient()[i];
  EXPECT_LT(loss_of(*model, {0, 1}), *before);
}

TEST(torch_objective, refuses_what_does_not_fit_the_data) {
  const auto data = small_dataset({.shape = {3, 3}, .classes = 2});
  EXPECT_EQ(
    refusal({.kind = model_kind::cnn}, data),
    "model.kind 'cnn' takes images [channels x height x width] of 4x4 or "
    "more; an example of this data has shape [3x3]");
  EXPECT_EQ(refusal({.kind = model_kind::mlp, .hidden = {3, 0}}, data),
            "model.hidden: widths are 1 or more, found 0");
  auto two = small_dataset();
  two->train.inputs.push_back(two->train.inputs[0]);
  two->test.inputs.push_back(two->test.inputs[0]);
  EXPECT_EQ(
    refusal({.kind = model_kind::softmax}, two),
    "model.kind 'softmax' takes one input of real numbers; for other data "
    "bring a model of kind 'torchscript'");
}

TEST(torch_objective, refuses_data_that_contradicts_itself) {
  const std::string text =
    "data 'small': the training set's sizes, shapes, types "
    "or labels contradict each other";
  auto data = small_dataset();
  data->train.labels[3] = 3;
  EXPECT_EQ(refusal({.kind = model_kind::softmax}, data), text);
  data = small_dataset();
  data->train.inputs[0].shape = {5};
  data->test.inputs[0].shape = {5};
  EXPECT_EQ(refusal({.kind = model_kind::softmax}, data), text);
  data = small_dataset();
  data->train.labels.pop_back();
  EXPECT_EQ(refusal({.kind = model_kind::softmax}, data), text);
}

} // namespace troupe::models::objective_test
