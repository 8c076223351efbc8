// What a model reads of images: their pixels as is said, and in training alone
// as the seed draws. What a batch may be is the business of pixels_test.

#include "models/torch/batch.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/random.hpp"
#include "models/outputs.hpp"
#include "models/torch/objective.hpp"
#include "tests/support/small_data.hpp"

namespace troupe::models::batch_test {

namespace {

using rows = std::vector<std::uint32_t>;
using bytes = std::vector<std::uint8_t>;
using floats = std::vector<float>;

const rows some{0, 3, 5, 7, 3};

/// Images of noise, the same for training and for the test.
std::shared_ptr<dataset> images(pixel_options how) {
  const auto data =
    test::small_dataset({.shape = {3, 8, 8}, .classes = 3, .size = 12});
  random_stream draws{5};
  bytes pixels(12 * 3 * 8 * 8);
  for (auto& x : pixels)
    x = static_cast<std::uint8_t>(draws.below(256));
  for (auto* part : {&data->train, &data->test}) {
    part->inputs[0].values = pixels;
    part->labels = data->train.labels;
  }
  const auto ok = set_pixels(*data, std::move(how));
  EXPECT_TRUE(ok) << ok.error().context;
  return data;
}

const pixel_options augmented{.mean = {0.5, 0.4, 0.3},
                              .deviation = {0.2, 0.3, 0.4},
                              .augment = augmentation::crop_flip};

/// The same in evaluation.
const pixel_options normalised{.mean = augmented.mean,
                               .deviation = augmented.deviation};

floats batch(const dataset& data, const rows& which,
             std::optional<std::uint64_t> seed) {
  const auto x = batch_maker{data}.inputs(data.train, which, seed).at(0);
  return {x.data_ptr<float>(), x.data_ptr<float>() + x.numel()};
}

std::unique_ptr<objective> model_of(const std::shared_ptr<dataset>& data) {
  auto made = make_torch_objective({.kind = model_kind::cnn}, data);
  if (!made)
    throw std::runtime_error(made.error().context);
  std::ranges::copy((*made)->initial_parameters(7),
                    (*made)->parameters().begin());
  return std::move(*made);
}

floats gradient_of(objective& model, std::uint64_t seed) {
  std::ranges::fill(model.gradient(), 0.0f);
  EXPECT_TRUE(model.backward(some, seed));
  return {model.gradient().begin(), model.gradient().end()};
}

floats said(objective& model, split part) {
  auto& outputs = *model.outputs();
  floats out(some.size() * outputs.size());
  EXPECT_TRUE(outputs.say(part, some, out));
  return out;
}

utterance spoken(objective& model, std::uint64_t seed) {
  auto result = model.outputs()->speak(some, seed);
  EXPECT_TRUE(result);
  return std::move(*result);
}

} // namespace

TEST(batches, hold_rows_as_they_are_unless_they_are_augmented) {
  const auto data = images({});
  const auto& pixels = std::get<bytes>(data->train.inputs[0].values);
  const auto found = batch(*data, some, 1);
  for (std::size_t i = 0; i < some.size(); ++i)
    for (std::size_t j = 0; j < 192; ++j)
      ASSERT_EQ(found[i * 192 + j],
                static_cast<float>(pixels[some[i] * 192 + j]) / 255.0f);
  EXPECT_EQ(batch(*images(augmented), some, {}),
            batch(*images(normalised), some, 1));
}

TEST(batches, draw_anew_for_each_row_of_each_batch) {
  const auto data = images(augmented);
  const auto once = batch(*data, some, 1);
  EXPECT_EQ(batch(*data, some, 1), once);
  EXPECT_NE(batch(*data, some, 2), once);
  // Row 3 is there twice.
  EXPECT_NE(floats(once.begin() + 192, once.begin() + 2 * 192),
            floats(once.begin() + 4 * 192, once.begin() + 5 * 192));
}

TEST(batches, mirror_an_image_as_it_was_before_its_turn) {
  auto mirrors = augmented;
  mirrors.crop = 0;
  const auto data = images(mirrors);
  data->train.turns = bytes(12, 0);
  data->train.turns[3] = 1;
  const auto rows_of = [&](std::uint32_t row) {
    std::set<floats> found;
    for (std::uint64_t seed = 0; seed < 40; ++seed)
      found.insert(batch(*data, {row}, seed));
    return found;
  };
  for (const std::uint32_t row : {0u, 3u}) {
    const auto image = at::tensor(batch(*data, {row}, {})).view({3, 8, 8});
    const auto mirrored = image.flip({row == 3 ? 1 : 2}).contiguous();
    EXPECT_EQ(rows_of(row),
              (std::set<floats>{batch(*data, {row}, {}),
                                {mirrored.data_ptr<float>(),
                                 mirrored.data_ptr<float>() + 192}}));
  }
}

TEST(augmentation, is_of_training_alone) {
  const auto plain = model_of(images(normalised));
  const auto model = model_of(images(augmented));
  for (const auto part : {split::train, split::test}) {
    EXPECT_EQ(model->evaluate(part, some)->loss,
              plain->evaluate(part, some)->loss);
    EXPECT_EQ(said(*model, part), said(*plain, part));
  }
  EXPECT_NE(spoken(*model, 1).values, said(*model, split::train));
  EXPECT_EQ(gradient_of(*plain, 1), gradient_of(*plain, 2));
  EXPECT_NE(gradient_of(*model, 1), gradient_of(*model, 2));
}

TEST(augmentation, is_the_same_in_all_that_one_seed_begins) {
  const auto model = model_of(images(augmented));
  const auto expected = gradient_of(*model, 9);
  const auto out = spoken(*model, 9);
  floats slopes(out.values.size());
  model->outputs()->judge(split::train, some, out.values, slopes);
  for (auto& x : slopes)
    x /= static_cast<float>(some.size());
  std::ranges::fill(model->gradient(), 0.0f);
  ASSERT_TRUE(out.pull_back(slopes));
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(model->gradient()[i], expected[i],
                1e-6 + 1e-4 * std::abs(expected[i]));
}

TEST(augmentation, is_the_same_in_the_second_derivative) {
  auto made =
    make_torch_objective({.kind = model_kind::softmax}, images(augmented));
  ASSERT_TRUE(made) << made.error().context;
  auto& model = **made;
  const auto at = model.initial_parameters(7);
  random_stream random{3};
  floats direction(at.size());
  for (auto& x : direction)
    x = static_cast<float>(random.normal());
  constexpr float step = 1.f / 1024;
  const auto gradient_at = [&](float t) {
    for (std::size_t i = 0; i < at.size(); ++i)
      model.parameters()[i] = at[i] + t * direction[i];
    return gradient_of(model, 9);
  };
  const auto above = gradient_at(step), below = gradient_at(-step);
  gradient_at(0);
  std::ranges::fill(model.gradient(), 0.0f);
  ASSERT_TRUE(model.curve(some, 9, direction));
  double error = 0, length = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto expected =
      static_cast<double>((above[i] - below[i]) / (2 * step));
    error += std::pow(model.gradient()[i] - expected, 2);
    length += expected * expected;
  }
  EXPECT_GT(length, 0.01);
  EXPECT_LT(error, 1e-2 * length);
}

} // namespace troupe::models::batch_test
