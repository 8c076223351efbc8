// Images in domains.

#include <algorithm>
#include <array>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "models/data/check_dataset.hpp"
#include "models/data/data_digest.hpp"
#include "models/data/shift.hpp"

namespace troupe::models::domains_test {

namespace {

using bytes = std::vector<std::uint8_t>;

/// Ten training and five test images of 2 x 2.
dataset images() {
  dataset x;
  x.name = "small";
  x.classes = 2;
  for (auto* set : {&x.train, &x.test}) {
    set->size = set == &x.train ? 10 : 5;
    bytes pixels;
    for (std::size_t i = 0; i < set->size; ++i) {
      pixels.insert(pixels.end(), {1, 2, 3, 4});
      set->labels.push_back(static_cast<std::int64_t>(i % 2));
    }
    set->inputs = {{.name = "x", .shape = {2, 2}, .values = pixels}};
  }
  return x;
}

bytes image(const example_set& of, std::size_t i) {
  const auto& all = std::get<bytes>(of.inputs[0].values);
  return {all.begin() + static_cast<std::ptrdiff_t>(4 * i),
          all.begin() + static_cast<std::ptrdiff_t>(4 * i + 4)};
}

} // namespace

TEST(domains, are_turned_and_negated_images) {
  const std::array<bytes, 5> expected{{{1, 2, 3, 4},
                                       {2, 4, 1, 3},
                                       {4, 3, 2, 1},
                                       {3, 1, 4, 2},
                                       {254, 253, 252, 251}}};
  auto x = images();
  ASSERT_TRUE(shift_domains(x, 7));
  for (const auto* set : {&x.train, &x.test}) {
    ASSERT_EQ(set->domains.size(), set->size);
    std::array<std::size_t, 5> rows{};
    for (std::size_t i = 0; i < set->size; ++i) {
      const auto domain = set->domains[i];
      ++rows.at(domain);
      EXPECT_EQ(image(*set, i), expected.at(domain));
      EXPECT_EQ(set->turns[i], domain == 4 ? 0 : domain);
    }
    for (const auto n : rows)
      EXPECT_EQ(n, set->size / 5);
    EXPECT_EQ(set->labels[1], 1);
  }
  EXPECT_TRUE(check_dataset(x));
}

TEST(domains, are_drawn_by_the_seed) {
  auto a = images(), b = images(), c = images();
  ASSERT_TRUE(shift_domains(a, 7));
  ASSERT_TRUE(shift_domains(b, 7));
  ASSERT_TRUE(shift_domains(c, 8));
  EXPECT_EQ(digest_of(a), digest_of(b));
  EXPECT_NE(digest_of(a), digest_of(c));
  EXPECT_FALSE(std::is_sorted(a.train.domains.begin(), a.train.domains.end()));
}

TEST(domains, are_part_of_the_digest) {
  auto a = images();
  const auto before = digest_of(a);
  a.train.domains.assign(10, 0);
  EXPECT_NE(digest_of(a), before);
}

TEST(domains, are_no_clusters_of_clients) {
  auto x = images();
  const partition parts{.train = {{0, 1}, {2, 3}}, .test = {{0}, {1}}};
  ASSERT_TRUE(shift_clusters(x, parts, cluster_shift::domains, 2));
  EXPECT_EQ(digest_of(x), digest_of(images()));
}

TEST(domains, need_square_images_of_bytes) {
  const auto refused = [](dataset x) {
    const auto ok = shift_domains(x, 1);
    return ok ? std::string{"shifted"} : ok.error().context;
  };
  const std::string why =
    "data 'small' has no square images of bytes, which 'shift' = \"domains\" "
    "turns and negates; \"none\" would do";
  EXPECT_EQ(refused(images()), "shifted");
  auto flat = images();
  flat.train.inputs[0].shape = {4};
  EXPECT_EQ(refused(flat), why);
  auto real = images();
  real.train.inputs[0].values = std::vector<float>(40);
  EXPECT_EQ(refused(real), why);
}

} // namespace troupe::models::domains_test
