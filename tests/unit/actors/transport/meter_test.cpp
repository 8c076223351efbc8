#include "actors/transport/meter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "actors/transport/held_bytes.hpp"

namespace troupe::transport::meter_test {
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

/// Reads for a second what `greedy` has always more of and the others say now
/// and then, and rests as it is told. Returns how much of the former.
int read_of(shares& x, const std::vector<std::string>& greedy,
            instant others_every) {
  instant now = 100s;
  // They spoke before, if they do so at all in that second.
  instant last = others_every < 1s ? now - others_every : now;
  int out = 0;
  while (now < 101s) {
    instant rest{};
    if (now >= last + others_every) {
      last = now;
      rest = std::max(rest, x.heard("modest", now));
    }
    for (const auto& who : greedy) {
      rest = std::max(rest, x.heard(who, now));
      ++out;
    }
    now += rest + 10us; // Reading takes time.
  }
  return out;
}

TEST(shares, read_who_says_too_much_more_slowly_while_others_are_there) {
  shares beside{5'000};
  const auto read = read_of(beside, {"greedy"}, 100ms);
  EXPECT_GT(read, 4'500);
  EXPECT_LT(read, 6'000);
  shares alone{5'000};
  EXPECT_GT(read_of(alone, {"greedy"}, 1h), 90'000) << "nobody waits for it";
  shares two{5'000};
  const auto each = read_of(two, {"greedy", "keen"}, 100ms) / 2;
  EXPECT_GT(each, 4'500) << "each has its own share";
  EXPECT_LT(each, 6'000);
}

TEST(shares, never_make_others_wait_for_long) {
  shares x{10};
  (void)x.heard("modest", 100s);
  instant longest{};
  for (int i = 0; i < 1000; ++i) {
    longest = std::max(longest, x.heard("greedy", 100s));
  }
  EXPECT_EQ(longest, shares::longest);
  EXPECT_EQ(x.heard("greedy", 101s), instant{})
    << "a second later it may again";
}

TEST(shares, leave_who_is_modest_as_it_is) {
  shares x{5'000};
  for (instant now = 100s; now < 110s; now += 1ms) {
    EXPECT_EQ(x.heard("one", now), instant{});
    EXPECT_EQ(x.heard("other", now), instant{});
  }
}

// Each call wakes a thread.
TEST(held_bytes, say_that_there_is_room_to_who_found_none_and_once) {
  int freed = 0;
  const auto all = std::make_shared<held_bytes>(100, [&] { ++freed; });
  const auto one = std::make_shared<held_bytes>(60, all);
  for (const auto& x : {all, one})
    for (int i = 0; i < 10; ++i)
      EXPECT_TRUE(x->count(10)) << "and given back at once";
  EXPECT_EQ(freed, 0) << "nobody wanted any";
  for (const auto& x : {all, one}) {
    auto first = x->take(50);
    auto second = x->count(10);
    EXPECT_FALSE(x->take(60));
    EXPECT_EQ(std::exchange(freed, 0), 0);
    first.reset();
    EXPECT_EQ(freed, 1);
    second.reset();
    EXPECT_EQ(std::exchange(freed, 0), 1) << "it was said before";
    EXPECT_TRUE(x->take(60));
  }
}

} // namespace
} // namespace troupe::transport::meter_test
