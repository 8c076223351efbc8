#include "models/language/sorted_deal.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace troupe::models {

namespace {

using numbers = std::vector<std::uint32_t>;

/// So many of each label, in turns of ten.
numbers labels(std::size_t rows, std::size_t of_ten_with_0) {
  numbers xs(rows);
  for (std::size_t i = 0; i < rows; ++i)
    xs[i] = i % 10 < of_ten_with_0 ? 0 : 1;
  return xs;
}

std::vector<double> shares_of_0(const numbers& of, const sorted_deal& how) {
  std::vector<double> shares;
  for (const auto& rows : deal_sorted(of, how)) {
    const auto zeros =
      std::ranges::count_if(rows, [&](auto row) { return of[row] == 0; });
    shares.push_back(static_cast<double>(zeros)
                     / static_cast<double>(rows.size()));
  }
  return shares;
}

} // namespace

TEST(sorted_deals, give_each_row_to_one_client) {
  const auto of = labels(103, 3);
  for (const auto fraction : {0.0, 0.3, 0.9, 1.0}) {
    const auto dealt =
      deal_sorted(of, {.clients = 4, .sorted_fraction = fraction, .seed = 7});
    ASSERT_EQ(dealt.size(), 4u);
    numbers all;
    for (const auto& rows : dealt) {
      EXPECT_TRUE(std::ranges::is_sorted(rows));
      EXPECT_GE(rows.size(), 24u);
      EXPECT_LE(rows.size(), 27u);
      all.insert(all.end(), rows.begin(), rows.end());
    }
    std::ranges::sort(all);
    numbers expected(103);
    std::iota(expected.begin(), expected.end(), 0u);
    EXPECT_EQ(all, expected) << fraction;
  }
}

TEST(sorted_deals, have_few_labels_each_where_all_rows_are_sorted) {
  EXPECT_THAT(shares_of_0(labels(1000, 3),
                          {.clients = 4, .sorted_fraction = 1, .seed = 7}),
              ::testing::ElementsAre(1, 0.2, 0, 0));
}

TEST(sorted_deals, are_alike_where_none_is) {
  for (const auto share : shares_of_0(
         labels(4000, 3), {.clients = 4, .sorted_fraction = 0, .seed = 7}))
    EXPECT_NEAR(share, 0.3, 0.06);
}

TEST(sorted_deals, of_test_rows_are_as_of_training_rows) {
  const sorted_deal all{.clients = 4, .sorted_fraction = 1, .seed = 7};
  auto other = all;
  other.seed = 8;
  EXPECT_EQ(shares_of_0(labels(1000, 3), all),
            shares_of_0(labels(200, 3), other));
  const sorted_deal most{.clients = 4, .sorted_fraction = 0.6, .seed = 7};
  const auto train = shares_of_0(labels(4000, 5), most);
  const auto test = shares_of_0(labels(2000, 5), most);
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_NEAR(train[k], test[k], 0.06) << k;
  EXPECT_GT(train[0], 0.7);
  EXPECT_LT(train[3], 0.3);
}

TEST(sorted_deals, follow_from_the_seed) {
  const auto of = labels(50, 5);
  const sorted_deal how{.clients = 3, .sorted_fraction = 0.5, .seed = 1};
  auto other = how;
  other.seed = 2;
  EXPECT_EQ(deal_sorted(of, how), deal_sorted(of, how));
  EXPECT_NE(deal_sorted(of, how), deal_sorted(of, other));
}

} // namespace troupe::models
