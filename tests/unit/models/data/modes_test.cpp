#include "models/data/modes.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "models/data/check_dataset.hpp"
#include "models/data/data_digest.hpp"

namespace troupe::models::modes_test {

namespace {

const std::vector<float>& values(const example_set& x) {
  return std::get<std::vector<float>>(x.inputs.front().values);
}

} // namespace

TEST(modes, have_as_many_rows_of_each_class_as_asked_for) {
  const auto x = make_modes({.classes = 3,
                             .dimension = 5,
                             .train_rows = 20,
                             .test_rows = 6,
                             .seed = 1});
  ASSERT_TRUE(check_dataset(x));
  EXPECT_EQ(x.train.size, 60u);
  EXPECT_EQ(x.test.size, 18u);
  EXPECT_EQ(x.train.inputs.front().shape, (std::vector<std::int64_t>{5}));
  EXPECT_EQ(x.train.labels[19], 0);
  EXPECT_EQ(x.train.labels[20], 1);
  EXPECT_EQ(x.test.labels[17], 2);
}

TEST(modes, lie_as_far_apart_as_said) {
  // A value's variance: 0.55^2 of where its mode lies, and 0.9^2 around it.
  const auto x = make_modes({.train_rows = 200, .seed = 2});
  double sum = 0;
  for (const auto v : values(x.train))
    sum += static_cast<double>(v) * static_cast<double>(v);
  const auto variance = sum / static_cast<double>(values(x.train).size());
  EXPECT_NEAR(variance, 0.55 * 0.55 + 0.9 * 0.9, 0.05);
}

TEST(modes, are_points_where_nothing_deviates) {
  const auto x = make_modes({.classes = 1,
                             .modes = 4,
                             .dimension = 1,
                             .deviation = 0,
                             .train_rows = 400,
                             .test_rows = 100,
                             .seed = 3});
  auto train = values(x.train);
  std::sort(train.begin(), train.end());
  train.erase(std::unique(train.begin(), train.end()), train.end());
  EXPECT_EQ(train.size(), 4u);
  for (const auto v : values(x.test)) // They are the same for both sets.
    EXPECT_TRUE(std::binary_search(train.begin(), train.end(), v));
}

TEST(modes, of_a_class_do_not_depend_on_how_many_there_are) {
  const auto few = make_modes({.classes = 2, .train_rows = 10, .seed = 4});
  const auto more = make_modes({.classes = 3, .train_rows = 10, .seed = 4});
  EXPECT_TRUE(std::equal(values(few.train).begin(), values(few.train).end(),
                         values(more.train).begin()));
  const auto other = make_modes({.classes = 2, .train_rows = 10, .seed = 5});
  EXPECT_NE(digest_of(few), digest_of(other));
}

} // namespace troupe::models::modes_test
