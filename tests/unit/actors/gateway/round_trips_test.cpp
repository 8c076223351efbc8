#include "actors/gateway/round_trips.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace troupe::actors {

using namespace std::chrono_literals;

TEST(round_trips, are_from_the_first_of_invitations_that_are_said_again) {
  round_trips testee;
  testee.began({{1}, {5}}, 100s);
  for (int i = 1; i < 6; ++i)
    testee.began({{1}, {5}}, 100s + i * 10s);
  testee.ended({{1}, {5}}, 153s);
  EXPECT_EQ(testee.taken().count, 1u);
  EXPECT_EQ(testee.taken().seconds, 53.0);
}

TEST(round_trips, are_of_the_newest_invitation_of_each_client) {
  round_trips testee;
  testee.began({{1}, {5}}, 100s);
  testee.began({{2}, {5}}, 101s);
  testee.began({{1}, {6}}, 110s);
  testee.ended({{1}, {5}}, 112s);
  EXPECT_EQ(testee.taken().count, 0u);
  testee.ended({{1}, {6}}, 113s);
  testee.ended({{2}, {5}}, 121s);
  testee.ended({{2}, {5}}, 130s);
  EXPECT_EQ(testee.taken().count, 2u);
  EXPECT_EQ(testee.taken().seconds, 23.0);
}

TEST(round_trips, do_not_begin_again_when_they_are_over) {
  round_trips testee;
  testee.began({{1}, {5}}, 100s);
  testee.ended({{1}, {5}}, 110s);
  testee.began({{1}, {5}}, 120s);
  testee.ended({{1}, {5}}, 150s);
  EXPECT_EQ(testee.taken().count, 1u);
  EXPECT_EQ(testee.taken().seconds, 10.0);
}

} // namespace troupe::actors
