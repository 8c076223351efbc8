#include "actors/transport/meter.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "actors/transport/held_bytes.hpp"

namespace troupe::transport {
namespace {

using namespace std::chrono_literals;

int taken(meter& x, instant now, int tries) {
  int out = 0;
  for (int i = 0; i < tries; ++i)
    out += x.takes(now);
  return out;
}

TEST(meter, lets_a_second_s_worth_through_at_once_and_then_what_time_brings) {
  meter x{10};
  EXPECT_EQ(taken(x, 100s, 50), 10);
  EXPECT_EQ(taken(x, 100s + 300ms, 50), 3);
  EXPECT_EQ(taken(x, 100s + 300ms, 50), 0);
  EXPECT_FALSE(x.is_full(100s + 900ms));
  EXPECT_TRUE(x.is_full(101s + 300ms));
  EXPECT_EQ(taken(x, 1h, 50), 10) << "silence saves no more up than that";
}

TEST(meter, is_not_filled_by_a_clock_that_goes_back) {
  meter x{10};
  EXPECT_EQ(taken(x, 100s, 50), 10);
  EXPECT_EQ(taken(x, 1s, 50), 0);
  EXPECT_EQ(taken(x, 100s, 50), 0);
}

TEST(meters, are_one_for_each_and_forget_those_that_are_full_again) {
  meters all{2, 3};
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(all.takes("a", 10s));
    EXPECT_TRUE(all.takes("b", 10s));
  }
  EXPECT_FALSE(all.takes("a", 10s));
  EXPECT_TRUE(all.takes("c", 20s)) << "others have their own";
  EXPECT_TRUE(all.takes("d", 20s + 1ms));
  EXPECT_EQ(all.size(), 2U) << "a and b are full by now";
  EXPECT_TRUE(all.takes("e", 20s + 1ms));
  EXPECT_TRUE(all.takes("f", 20s + 1ms));
  EXPECT_EQ(all.size(), 3U) << "never more, though none is full";
}

TEST(held_bytes, of_a_key_are_a_part_of_all_and_no_more_than_its_own) {
  int freed = 0;
  const auto all = std::make_shared<held_bytes>(100, [&] { ++freed; });
  const auto one = std::make_shared<held_bytes>(60, all);
  const auto other = std::make_shared<held_bytes>(60, all);
  auto first = one->take(50);
  ASSERT_TRUE(first);
  EXPECT_FALSE(one->take(20)) << "beyond its own";
  auto second = other->take(50);
  EXPECT_TRUE(second);
  EXPECT_FALSE(other->take(10)) << "within its own, and beyond all";
  EXPECT_EQ(other->now(), 50U) << "what was not given is not counted";
  EXPECT_EQ(all->now(), 100U);
  EXPECT_EQ(freed, 0);
  first.reset();
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(all->now(), 50U);
  EXPECT_TRUE(one->take(20));
}

} // namespace
} // namespace troupe::transport
