#include "actors/transport/key_choice.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace troupe::transport {
namespace {

using namespace std::chrono_literals;

constexpr public_key first{1};
constexpr public_key second{2};
constexpr public_key third{3};

std::optional<instant> broken(key_choice& x) {
  x.dialled();
  return x.broken();
}

void meet(key_choice& x) {
  x.dialled();
  EXPECT_TRUE(x.met());
}

TEST(key_choice, tries_one_key_after_the_other_and_then_takes_its_time) {
  key_choice x{{first, second}};
  EXPECT_EQ(x.now(), first);
  EXPECT_EQ(broken(x), 0ms) << "the other one is tried at once";
  EXPECT_EQ(x.now(), second);
  EXPECT_EQ(broken(x), 100ms);
  EXPECT_EQ(x.now(), first);
  instant longest{};
  for (int i = 0; i < 100; ++i)
    longest = std::max(longest, *broken(x));
  EXPECT_EQ(longest, 1s);
}

// ZeroMQ would dial whoever has another key seven times a second, for ever.
TEST(key_choice, takes_its_time_with_the_only_one) {
  key_choice x{{first}};
  EXPECT_EQ(broken(x), 100ms);
  EXPECT_EQ(x.now(), first);
  for (int i = 0; i < 8; ++i)
    EXPECT_LT(*broken(x), 1s);
  EXPECT_EQ(broken(x), 1s);
  meet(x);
  EXPECT_EQ(broken(x), 100ms) << "it was there";
}

TEST(key_choice, takes_none_from_before_the_one_that_it_met) {
  key_choice x{{first, second, third}};
  (void)broken(x);
  meet(x);
  EXPECT_EQ(x.now(), second);
  EXPECT_EQ(x.size(), 2U);
  (void)broken(x);
  EXPECT_EQ(x.now(), third);
  (void)broken(x);
  EXPECT_EQ(x.now(), second) << "whoever has the first is somebody else";
}

// The last words of a connection come when the next one is about to be made.
TEST(key_choice, hears_nothing_of_the_one_that_it_gave_up) {
  key_choice x{{first, second}};
  EXPECT_EQ(broken(x), 0ms);
  EXPECT_EQ(x.now(), second);
  EXPECT_FALSE(x.met()) << "that was the first one's";
  EXPECT_FALSE(x.broken()) << "and so was this";
  EXPECT_EQ(x.now(), second);
  EXPECT_EQ(x.size(), 2U) << "the first may be the server's";
  EXPECT_EQ(broken(x), 100ms);
  EXPECT_EQ(x.now(), first);
  meet(x);
  EXPECT_EQ(x.size(), 2U);
}

TEST(key_choice, takes_what_it_is_told_once_and_never_too_many) {
  key_choice x{{first}};
  x.add(second);
  x.add(second);
  EXPECT_EQ(x.size(), 2U);
  meet(x);
  EXPECT_EQ(x.size(), 2U) << "the next one is still to come";
  for (std::uint8_t i = 3; i < 100; ++i)
    x.add(public_key{i});
  EXPECT_EQ(x.size(), key_choice::most);
}

} // namespace
} // namespace troupe::transport
