#include "node/run/pair_change.hpp"

#include <gtest/gtest.h>

namespace troupe::node {
namespace {

using links = std::vector<std::uint64_t>;

coming_pair next_at(std::int64_t ms, std::uint8_t first = 1) {
  coming_pair out;
  out.pair.open = {first};
  out.at_ms = ms;
  return out;
}

TEST(pair_change, is_told_to_whoever_is_here_or_comes_until_it_is_due) {
  pair_change x;
  EXPECT_EQ(x.to_tell({1, 2}, 0), links{}) << "there is none";
  x.found(next_at(100'000));
  EXPECT_EQ(x.to_tell({1, 2}, 0), (links{1, 2}));
  EXPECT_EQ(x.left(0), 100'000U);
  EXPECT_EQ(x.to_tell({1, 2, 3}, 1'000), links{3}) << "who has just come";
  EXPECT_EQ(x.to_tell({1, 2, 3}, 9'000), links{});
  EXPECT_EQ(x.to_tell({1, 3}, 12'000), (links{1, 3}));
  EXPECT_EQ(x.to_tell({1, 2, 3}, 12'001), links{2}) << "who has come back";
  EXPECT_FALSE(x.is_due(99'999));
  EXPECT_TRUE(x.is_due(100'000));
  EXPECT_EQ(x.to_tell({1, 2, 3}, 100'000), links{});
  EXPECT_EQ(x.left(100'001), 0U);
}

TEST(pair_change, is_told_each_second_when_it_is_close) {
  pair_change x;
  x.found(next_at(20'000));
  int often = 0;
  for (std::int64_t now = 0; now < 20'000; now += 250)
    often += static_cast<int>(x.to_tell({7}, now).size());
  EXPECT_EQ(often, 1 + 10) << "at first, and in each of the last ten seconds";
}

TEST(pair_change, is_told_again_when_it_is_another) {
  pair_change x;
  x.found(next_at(100'000));
  (void)x.to_tell({1}, 0);
  x.found(next_at(100'000));
  EXPECT_EQ(x.to_tell({1}, 1), links{});
  x.found(next_at(90'000));
  EXPECT_EQ(x.to_tell({1}, 2), links{1}) << "another moment";
  x.found(next_at(90'000, 2));
  EXPECT_EQ(x.to_tell({1}, 3), links{1}) << "another pair";
  x.found(std::nullopt);
  EXPECT_EQ(x.to_tell({1}, 4), links{}) << "it was taken back";
  EXPECT_FALSE(x.is_due(200'000));
}

} // namespace
} // namespace troupe::node
