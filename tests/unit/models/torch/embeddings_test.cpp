#include "models/embeddings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "models/outputs.hpp"
#include "models/torch/objective.hpp"
#include "tests/support/small_data.hpp"

namespace troupe::models::embeddings_test {

namespace {

using test::small_dataset;
using rows = std::vector<std::uint32_t>;

std::vector<float> copied(std::span<const float> x) {
  return {x.begin(), x.end()};
}

/// With its first values.
std::unique_ptr<objective> make(const model_config& config,
                                std::shared_ptr<const dataset> data) {
  auto made = make_torch_objective(config, std::move(data));
  if (!made)
    throw std::runtime_error(made.error().context);
  std::ranges::copy((*made)->initial_parameters(7),
                    (*made)->parameters().begin());
  return std::move(*made);
}

std::vector<float> embedding(objective& x, split part, std::uint32_t row) {
  auto* of = x.embeddings();
  if (of == nullptr)
    throw std::runtime_error("no embeddings");
  std::vector<float> out(of->width());
  const auto done = of->embed(part, row, out);
  EXPECT_TRUE(done) << done.error().context;
  return out;
}

/// What the last layer makes of it: the last two tensors are its own.
std::vector<float> logits_of(objective& x, const std::vector<float>& embedded,
                             std::size_t classes) {
  const auto all = x.parameters();
  const auto bias = all.last(classes);
  const auto weights =
    all.first(all.size() - classes).last(classes * embedded.size());
  std::vector<float> logits;
  for (std::size_t i = 0; i < classes; ++i) {
    double sum = static_cast<double>(bias[i]);
    for (std::size_t j = 0; j < embedded.size(); ++j)
      sum += static_cast<double>(weights[i * embedded.size() + j])
             * static_cast<double>(embedded[j]);
    logits.push_back(static_cast<float>(sum));
  }
  return logits;
}

struct kind {
  std::string name;
  model_config config;
  std::vector<std::int64_t> shape;
  std::size_t width;
};

void PrintTo(const kind& x, std::ostream* out) {
  *out << x.name;
}

class embeddings : public ::testing::TestWithParam<kind> {
protected:
  std::shared_ptr<dataset> data_ =
    small_dataset({.shape = GetParam().shape, .classes = 3, .size = 12});
  std::unique_ptr<objective> model_ = make(GetParam().config, data_);
};

} // namespace

// Dropout or the statistics of one example would show.
TEST_P(embeddings, are_what_the_last_layer_says_something_of) {
  for (const auto part : {split::train, split::test})
    for (const std::uint32_t row : {0, 7}) {
      const auto embedded = embedding(*model_, part, row);
      ASSERT_EQ(embedded.size(), GetParam().width);
      std::vector<float> said(3);
      ASSERT_TRUE(model_->outputs()->say(part, rows{row}, said));
      const auto logits = logits_of(*model_, embedded, 3);
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(logits[i], said[i], 1e-4f * (1 + std::abs(said[i])));
    }
}

TEST_P(embeddings, are_the_same_at_each_call_and_in_each_model) {
  const auto first = embedding(*model_, split::train, 3);
  EXPECT_NE(embedding(*model_, split::train, 4), first);
  ASSERT_TRUE(model_->evaluate(split::train, rows{1, 2, 3}));
  EXPECT_EQ(embedding(*model_, split::train, 3), first);
  EXPECT_EQ(embedding(*make(GetParam().config, data_), split::train, 3), first);
}

TEST_P(embeddings, change_nothing) {
  ASSERT_TRUE(model_->backward(rows{0, 3, 5, 7}, 1));
  const auto gradient = copied(model_->gradient());
  const auto parameters = copied(model_->parameters());
  const auto buffers = copied(model_->buffers());
  embedding(*model_, split::train, 3);
  EXPECT_EQ(copied(model_->gradient()), gradient);
  EXPECT_EQ(copied(model_->parameters()), parameters);
  EXPECT_EQ(copied(model_->buffers()), buffers);
}

INSTANTIATE_TEST_SUITE_P(
  torch, embeddings,
  ::testing::Values(
    kind{"softmax", {.kind = model_kind::softmax}, {2, 2}, 4},
    kind{"mlp", {.kind = model_kind::mlp, .hidden = {8}}, {2, 2}, 8},
    kind{"deep_mlp", {.kind = model_kind::mlp, .hidden = {5, 6}}, {4}, 6},
    kind{"cnn", {.kind = model_kind::cnn}, {1, 8, 8}, 128},
    kind{"lenet", {.kind = model_kind::lenet}, {1, 14, 14}, 64},
    kind{"vgg8", {.kind = model_kind::vgg8}, {3, 32, 32}, 512},
    kind{"resnet18", {.kind = model_kind::resnet18, .width = 4}, {1, 8, 8}, 32},
    kind{"resnet34",
         {.kind = model_kind::resnet34, .width = 4, .norm = norm_kind::batch},
         {3, 8, 8},
         32}),
  [](const auto& x) { return x.param.name; });

// Specification, 3.
TEST(residual_network, has_the_sizes_of_the_publication) {
  const auto size = [](model_kind of, std::int64_t classes) {
    const auto data =
      small_dataset({.shape = {3, 8, 8}, .classes = classes, .size = 4});
    const auto made =
      make_torch_objective({.kind = of, .norm = norm_kind::batch}, data);
    EXPECT_TRUE(made);
    return std::pair{(*made)->parameters().size(), (*made)->buffers().size()};
  };
  EXPECT_EQ(size(model_kind::resnet34, 10),
            (std::pair<std::size_t, std::size_t>{21'282'122, 17'024}));
  EXPECT_EQ(size(model_kind::resnet18, 10),
            (std::pair<std::size_t, std::size_t>{11'173'962, 9'600}));
}

TEST(residual_network, is_as_wide_as_said) {
  const auto data =
    small_dataset({.shape = {3, 8, 8}, .classes = 10, .size = 4});
  const auto model = make({.kind = model_kind::resnet34, .width = 4}, data);
  EXPECT_EQ(model->parameters().size(), 84'542u);
  EXPECT_TRUE(model->buffer_list().empty());
  const auto none =
    make_torch_objective({.kind = model_kind::resnet34, .width = 0}, data);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().context,
            "model.width: residual networks have 1 channel or more, found 0");
}

TEST(residual_network, learns_at_any_width_with_either_norm) {
  const auto data =
    small_dataset({.shape = {1, 8, 8}, .classes = 3, .size = 12});
  for (const std::int64_t width : {1, 3, 5, 8, 48})
    for (const auto norm : {norm_kind::group, norm_kind::batch}) {
      const auto model = make(
        {.kind = model_kind::resnet18, .width = width, .norm = norm}, data);
      ASSERT_TRUE(model->backward(rows{0, 1, 2, 3}, 1)) << width;
      EXPECT_TRUE(
        std::ranges::any_of(model->gradient(), [](float x) { return x != 0; }));
    }
}

TEST(residual_network, keeps_what_batch_norm_saw_in_its_buffers) {
  const auto data =
    small_dataset({.shape = {1, 8, 8}, .classes = 3, .size = 12});
  const auto model = make(
    {.kind = model_kind::resnet18, .width = 4, .norm = norm_kind::batch}, data);
  const auto& list = model->buffer_list();
  ASSERT_EQ(list.size(), 40u);
  EXPECT_EQ(list[0], (tensor_spec{"first.norm.running_mean", {4}}));
  EXPECT_EQ(list[1], (tensor_spec{"first.norm.running_var", {4}}));
  EXPECT_EQ(list[2].name, "block1.norm1.running_mean");
  const auto fresh = model->initial_buffers();
  EXPECT_EQ(copied(model->buffers()), fresh);
  EXPECT_EQ(fresh[0], 0);
  EXPECT_EQ(fresh[4], 1);
  const auto before = model->evaluate(split::test, rows{0, 1})->loss;
  EXPECT_EQ(copied(model->buffers()), fresh);
  ASSERT_TRUE(model->backward(rows{0, 1, 2, 3}, 1));
  EXPECT_NE(copied(model->buffers()), fresh);
  EXPECT_NE(model->evaluate(split::test, rows{0, 1})->loss, before);
  std::ranges::copy(fresh, model->buffers().begin());
  EXPECT_EQ(model->evaluate(split::test, rows{0, 1})->loss, before);
}

TEST(residual_network, refuses_a_batch_without_a_deviation) {
  const auto data =
    small_dataset({.shape = {1, 8, 8}, .classes = 3, .size = 12});
  const auto model = make(
    {.kind = model_kind::resnet18, .width = 4, .norm = norm_kind::batch}, data);
  const auto done = model->backward(rows{1}, 1);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().context,
            "the model fails on a batch of 1 examples: batch norm finds one "
            "value of a channel, which has no deviation; larger batches or "
            "images would do, or norm = 'group'");
}

} // namespace troupe::models::embeddings_test
