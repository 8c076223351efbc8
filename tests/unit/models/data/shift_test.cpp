#include "models/data/shift.hpp"

#include <gtest/gtest.h>

namespace troupe::models::shift_test {

namespace {

using bytes = std::vector<std::uint8_t>;

/// Four clients with one training and one test image each, of 2 x 2.
struct clients {
  dataset data;
  partition parts;

  clients() {
    data.name = "small";
    data.classes = 3;
    bytes pixels;
    for (int i = 0; i < 4; ++i)
      pixels.insert(pixels.end(), {1, 2, 3, 4});
    for (auto* set : {&data.train, &data.test}) {
      set->size = 4;
      set->inputs = {{.name = "x", .shape = {2, 2}, .values = pixels}};
      set->labels = {0, 1, 2, 2};
    }
    for (std::uint32_t k = 0; k < 4; ++k) {
      parts.train.push_back({k});
      parts.test.push_back({k});
    }
  }

  bytes image(const example_set& of, std::size_t i) const {
    const auto& all = std::get<bytes>(of.inputs[0].values);
    return {all.begin() + static_cast<std::ptrdiff_t>(4 * i),
            all.begin() + static_cast<std::ptrdiff_t>(4 * i + 4)};
  }
};

} // namespace

TEST(cluster_shift, turns_images_to_the_left) {
  clients x;
  ASSERT_TRUE(shift_clusters(x.data, x.parts, cluster_shift::rotation, 4));
  for (const auto* set : {&x.data.train, &x.data.test}) {
    EXPECT_EQ(x.image(*set, 0), (bytes{1, 2, 3, 4}));
    EXPECT_EQ(x.image(*set, 1), (bytes{2, 4, 1, 3}));
    EXPECT_EQ(x.image(*set, 2), (bytes{4, 3, 2, 1}));
    EXPECT_EQ(x.image(*set, 3), (bytes{3, 1, 4, 2}));
    EXPECT_EQ(set->labels, (std::vector<std::int64_t>{0, 1, 2, 2}));
    EXPECT_EQ(set->turns, (bytes{0, 1, 2, 3}));
  }
  clients halves;
  ASSERT_TRUE(
    shift_clusters(halves.data, halves.parts, cluster_shift::rotation, 2));
  EXPECT_EQ(halves.image(halves.data.train, 1), (bytes{4, 3, 2, 1}));
  EXPECT_EQ(halves.image(halves.data.train, 2), (bytes{1, 2, 3, 4}));
  EXPECT_EQ(halves.data.train.turns, (bytes{0, 2, 0, 2}));
}

TEST(cluster_shift, goes_around_the_labels) {
  clients x;
  ASSERT_TRUE(shift_clusters(x.data, x.parts, cluster_shift::labels, 4));
  EXPECT_EQ(x.data.train.labels, (std::vector<std::int64_t>{0, 2, 1, 2}));
  EXPECT_EQ(x.data.test.labels, x.data.train.labels);
  EXPECT_TRUE(x.data.train.turns.empty());
  EXPECT_EQ(x.image(x.data.train, 1), (bytes{1, 2, 3, 4}));
}

TEST(cluster_shift, leaves_what_nobody_holds) {
  clients x;
  x.parts.train[3].clear();
  ASSERT_TRUE(shift_clusters(x.data, x.parts, cluster_shift::labels, 4));
  EXPECT_EQ(x.data.train.labels[3], 2);
  ASSERT_TRUE(shift_clusters(x.data, x.parts, cluster_shift::none, 4));
}

TEST(cluster_shift, refuses_what_cannot_be_turned) {
  clients x;
  EXPECT_FALSE(shift_clusters(x.data, x.parts, cluster_shift::rotation, 3));
  x.data.train.inputs[0].shape = {4};
  EXPECT_FALSE(shift_clusters(x.data, x.parts, cluster_shift::rotation, 4));
}

} // namespace troupe::models::shift_test
