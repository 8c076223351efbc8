#include "node/watch/http/copies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "node/watch/http/crowd.hpp"

namespace troupe::http {

using namespace std::chrono_literals;

TEST(http_copies, are_made_four_times_a_second_at_most) {
  int made = 0;
  copies testee{
    {{"/count", [&](bool) { return answer{.body = std::to_string(++made)}; }}}};
  const auto first = testee.of("/count", false, 10s);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(testee.of("/count", false, 10s + 249ms), first);
  EXPECT_EQ(made, 1);
  EXPECT_NE(testee.of("/count", true, 10s), first);
  const auto next = testee.of("/count", false, 10s + 250ms);
  EXPECT_EQ(made, 3);
  EXPECT_THAT(next->bytes, ::testing::EndsWith("\r\n\r\n3"));
  EXPECT_EQ(next->head + 1, next->bytes.size());
  EXPECT_EQ(testee.of("/other", false, 10s), nullptr);
}

TEST(http_crowd, has_the_oldest_of_who_has_most_make_room) {
  const std::array<std::string, 5> x{"a", "b", "c", "b", "c"};
  EXPECT_EQ(who_makes_room(std::span{x}.first(1)), 0u);
  EXPECT_EQ(who_makes_room(std::span{x}.first(3)), 0u);
  EXPECT_EQ(who_makes_room(std::span{x}.first(4)), 1u);
  EXPECT_EQ(who_makes_room(x), 1u);
  EXPECT_EQ(who_makes_room(std::span{x}.last(3)), 0u);
}

} // namespace troupe::http
