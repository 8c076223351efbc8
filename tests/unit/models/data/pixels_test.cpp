#include "models/data/pixels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

namespace troupe::models::pixels_test {

namespace {

using bytes = std::vector<std::uint8_t>;
using floats = std::vector<float>;

/// One image, for training and for the test.
dataset image_of(bytes pixels, std::vector<std::int64_t> shape) {
  dataset data;
  data.name = "small";
  data.classes = 1;
  for (auto* set : {&data.train, &data.test}) {
    set->size = 1;
    set->inputs = {{.name = "x", .shape = shape, .values = pixels}};
    set->labels = {0};
  }
  return data;
}

dataset image_of(bytes pixels, std::vector<std::int64_t> shape,
                 pixel_options how) {
  auto data = image_of(std::move(pixels), std::move(shape));
  const auto ok = set_pixels(data, std::move(how));
  EXPECT_TRUE(ok) << ok.error().context;
  return data;
}

const bytes& pixels_of(const dataset& data) {
  return std::get<bytes>(data.train.inputs[0].values);
}

floats read(const dataset& data) {
  floats result(pixels_of(data).size());
  pixel_reader{data}.read(pixels_of(data), result.data());
  return result;
}

/// How often each outcome was drawn.
std::map<bytes, int> outcomes(const dataset& data, std::uint8_t quarters,
                              int draws) {
  std::map<bytes, int> result;
  const pixel_reader reader{data};
  random_stream random{7};
  floats image(pixels_of(data).size());
  for (int i = 0; i < draws; ++i) {
    reader.read_changed(pixels_of(data), quarters, random, image.data());
    bytes back;
    for (const auto x : image)
      back.push_back(static_cast<std::uint8_t>(std::lround(x * 255)));
    ++result[back];
  }
  return result;
}

constexpr pixel_options small_crops{
  .mean = {}, .deviation = {}, .augment = augmentation::crop_flip, .crop = 1};

// The nine pieces of 2 x 2 of  0 0 0 0
//                              0 1 2 0
//                              0 3 4 0
//                              0 0 0 0  and those of its mirror image.
const std::set<bytes> pieces{
  {0, 0, 0, 1}, {0, 0, 1, 2}, {0, 0, 2, 0}, {0, 1, 0, 3}, {1, 2, 3, 4},
  {2, 0, 4, 0}, {0, 3, 0, 0}, {3, 4, 0, 0}, {4, 0, 0, 0}, // As it is.
  {0, 0, 0, 2}, {0, 0, 2, 1}, {0, 0, 1, 0}, {0, 2, 0, 4}, {2, 1, 4, 3},
  {1, 0, 3, 0}, {0, 4, 0, 0}, {4, 3, 0, 0}, {3, 0, 0, 0}}; // Mirrored.

/// A quarter to the left, as `shift_clusters` turns.
bytes turned(const bytes& x) {
  return {x[1], x[3], x[0], x[2]};
}

std::string refusal(dataset data, pixel_options how) {
  const auto ok = set_pixels(data, std::move(how));
  return ok ? "taken" : ok.error().context;
}

} // namespace

TEST(pixels, are_shares_of_255_unless_something_is_said) {
  bytes all(256);
  floats expected(256);
  for (std::size_t i = 0; i < 256; ++i) {
    all[i] = static_cast<std::uint8_t>(i);
    expected[i] = static_cast<float>(i) / 255.0f;
  }
  EXPECT_EQ(read(image_of(all, {256})), expected);
  EXPECT_EQ(read(image_of(all, {4, 8, 8}, small_crops)), expected);
}

TEST(pixels, of_each_channel_have_its_mean_and_deviation) {
  // 51 / 255 = 0.2 and 102 / 255 = 0.4.
  EXPECT_EQ(read(image_of({51, 102, 51, 102, 0, 255}, {3, 1, 2},
                          {.mean = {0.2, 0.4, 0}, .deviation = {0.5, 0.1, 2}})),
            (floats{0, 0.4f, -2, 0, 0, 0.5f}));
  EXPECT_EQ(
    read(image_of({51, 102}, {2, 1, 1}, {.mean = {0.2}, .deviation = {0.5}})),
    (floats{0, 0.4f}));
}

TEST(pixels, of_training_are_those_of_a_piece_cut_at_random) {
  constexpr int draws = 18'000;
  const auto found =
    outcomes(image_of({1, 2, 3, 4}, {2, 2}, small_crops), 0, draws);
  EXPECT_EQ(found.size(), pieces.size());
  for (const auto& [image, count] : found) {
    EXPECT_TRUE(pieces.contains(image)) << ::testing::PrintToString(image);
    EXPECT_NEAR(count, draws / 18, 160); // Five deviations.
  }
}

TEST(pixels, of_a_turned_image_are_those_of_a_changed_one_that_is_turned) {
  bytes image{1, 2, 3, 4};
  auto expected = pieces;
  for (std::uint8_t quarters = 0; quarters < 4; ++quarters) {
    std::set<bytes> found;
    for (const auto& [x, count] :
         outcomes(image_of(image, {2, 2}, small_crops), quarters, 1000))
      found.insert(x);
    EXPECT_EQ(found, expected) << int{quarters};
    image = turned(image);
    std::set<bytes> next;
    for (const auto& x : expected)
      next.insert(turned(x));
    expected = next;
  }
}

TEST(pixels, of_all_channels_are_cut_alike_and_zeros_are_black) {
  const auto data = image_of({10, 20, 30, 40, 50, 60}, {3, 1, 2},
                             {.mean = {0.1, 0.2, 0.3},
                              .deviation = {0.5, 0.25, 2},
                              .augment = augmentation::crop_flip,
                              .crop = 1});
  const auto input = [](int pixel, double mean, double deviation) {
    return static_cast<float>((pixel / 255.0 - mean) / deviation);
  };
  std::set<floats> expected;
  const std::vector<std::array<int, 2>> rows{{0, 1}, {1, 2}, {2, 0}, {0, 2},
                                             {2, 1}, {1, 0}, {0, 0}};
  for (const auto [a, b] : rows) { // 0: outside; else the first or the second.
    floats x;
    for (const auto p : {a, b})
      x.push_back(input(p ? 10 * p : 0, 0.1, 0.5));
    for (const auto p : {a, b})
      x.push_back(input(p ? 20 + 10 * p : 0, 0.2, 0.25));
    for (const auto p : {a, b})
      x.push_back(input(p ? 40 + 10 * p : 0, 0.3, 2));
    expected.insert(x);
  }
  const pixel_reader reader{data};
  random_stream random{3};
  std::set<floats> found;
  floats image(6);
  for (int i = 0; i < 500; ++i) {
    reader.read_changed(pixels_of(data), 0, random, image.data());
    found.insert(image);
  }
  EXPECT_EQ(found, expected);
}

TEST(pixels, are_not_of_what_has_none) {
  const auto data = image_of({1, 2, 3, 4, 5, 6}, {3, 1, 2});
  EXPECT_EQ(refusal(data, {.mean = {0, 0, 0}, .deviation = {1}}),
            "data 'small' is given 3 numbers of 'mean' and 1 of 'deviation'; "
            "as many would do");
  EXPECT_EQ(refusal(data, {.mean = {0}, .deviation = {0}}),
            "data 'small' is given a 'deviation' of 0.000000; numbers above 0 "
            "would do");
  EXPECT_EQ(refusal(data, {.mean = {0, 0}, .deviation = {1, 1}}),
            "data 'small' has images of 3 channels, and 'mean' has 2 numbers; "
            "a number for each, or one for all, would do");
  const std::string none = "data 'small' has no images of bytes, which 'mean', "
                           "'deviation' and 'augment' are for";
  EXPECT_EQ(refusal(image_of({1, 2}, {2}), small_crops), none);
  auto numbers = image_of({1}, {1, 1});
  numbers.train.inputs[0].values = floats{1};
  EXPECT_EQ(refusal(numbers, small_crops), none);
  EXPECT_EQ(refusal(numbers, {.mean = {0}, .deviation = {1}}), none);
  EXPECT_EQ(refusal(numbers, {}), "taken");
  auto two = data;
  two.train.inputs.push_back(two.train.inputs[0]);
  EXPECT_EQ(refusal(two, small_crops), none);
}

} // namespace troupe::models::pixels_test
