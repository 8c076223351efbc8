#include "actors/gateway/budget.hpp"

#include <gtest/gtest.h>

namespace troupe::actors {

using namespace std::chrono_literals;
using standing = budget::standing;

namespace {

constexpr peer_id one{1};
constexpr peer_id other{2};

} // namespace

TEST(budget, bounds_nothing_where_there_are_no_limits) {
  budget testee{{}};
  for (int i = 0; i < 100'000; ++i)
    EXPECT_EQ(testee.spend(one, 1 << 30, 0s), standing::within);
  EXPECT_TRUE(testee.speaks_for(one, {1}));
  EXPECT_TRUE(testee.speaks_for(one, {2}));
}

TEST(budget, hears_ten_seconds_worth_at_once_and_then_nothing_for_a_while) {
  budget testee{{.frames_per_second = 10}};
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(testee.spend(one, 1, 1h), standing::within);
  EXPECT_EQ(testee.spend(one, 1, 1h), standing::exceeded);
  EXPECT_EQ(testee.spend(one, 1, 1h + 5s), standing::muted);
  EXPECT_EQ(testee.spend(other, 1, 1h + 5s), standing::within);
  // Of the frame that was too much, too, the time is to be won back.
  EXPECT_EQ(testee.spend(one, 1, 1h + 5200ms), standing::within);
}

TEST(budget, bounds_bytes_likewise) {
  budget testee{{.bytes_per_second = 100}};
  EXPECT_EQ(testee.spend(one, 1000, 0s), standing::within);
  EXPECT_EQ(testee.spend(one, 1, 0s), standing::exceeded);
  EXPECT_EQ(testee.spend(one, 1, 4s), standing::muted);
  EXPECT_EQ(testee.spend(one, 400, 6s), standing::within);
}

TEST(budget, lets_a_steady_peer_speak_for_ever) {
  budget testee{{.frames_per_second = 10, .bytes_per_second = 1000}};
  for (instant t{}; t < 10min; t += 100ms)
    EXPECT_EQ(testee.spend(one, 100, t), standing::within);
}

TEST(budget, bounds_for_how_many_clients_a_peer_speaks) {
  budget testee{{.clients_max = 2}};
  EXPECT_TRUE(testee.speaks_for(one, {1}));
  EXPECT_TRUE(testee.speaks_for(one, {2}));
  EXPECT_FALSE(testee.speaks_for(one, {3}));
  EXPECT_TRUE(testee.speaks_for(one, {1}));
  EXPECT_TRUE(testee.speaks_for(other, {3}));
}

TEST(budget, has_a_client_spoken_for_by_one_peer_at_a_time) {
  budget testee{{.clients_max = 1}};
  EXPECT_TRUE(testee.speaks_for(one, {1}));
  EXPECT_FALSE(testee.speaks_for(one, {2}));
  EXPECT_TRUE(testee.speaks_for(other, {1}));
  EXPECT_TRUE(testee.speaks_for(one, {2})) << "it speaks for nobody any more";
  EXPECT_FALSE(testee.speaks_for(one, {1}));
}

} // namespace troupe::actors
