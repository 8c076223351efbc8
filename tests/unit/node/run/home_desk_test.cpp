// What a socket's thread asks of a joining process.

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>

#include "node/join/home_desk.hpp"

namespace troupe::node::home_desk_test {
namespace {

using namespace std::chrono_literals;

std::uint64_t one_more(std::uint16_t kind) {
  return kind + std::uint64_t{1};
}

} // namespace

// Whoever says something of scores waits for the socket's lock, and who asks
// has it.
TEST(home_desk, says_how_large_a_message_may_be_while_somebody_tells_scores) {
  home_desk testee{one_more};
  testee.open(std::make_unique<home_scores>(
    home_scores::options{.blocks = std::make_shared<models::layout>(),
                         .make_trainer = {},
                         .mine = {},
                         .files = {},
                         .network = {}}));
  std::future<std::uint64_t> asked;
  bool is_there = false;
  testee.with_scores([&](home_scores&) {
    is_there = true;
    asked = std::async(std::launch::async, [&] { return testee.bytes_max(7); });
    EXPECT_EQ(asked.wait_for(10s), std::future_status::ready)
      << "both wait for each other";
  });
  ASSERT_TRUE(is_there);
  EXPECT_EQ(asked.get(), 8U);
}

TEST(home_desk, goes_by_what_it_learned) {
  home_desk testee{one_more};
  testee.learn([](std::uint16_t) { return std::uint64_t{5}; });
  EXPECT_EQ(testee.bytes_max(7), 5U);
}

TEST(home_desk, has_no_scores_before_and_after) {
  home_desk testee{one_more};
  const auto count = [&] {
    int out = 0;
    testee.with_scores([&](home_scores&) { ++out; });
    return out;
  };
  EXPECT_EQ(count(), 0);
  testee.open(std::make_unique<home_scores>(home_scores::options{}));
  EXPECT_EQ(count(), 1);
  testee.close();
  EXPECT_EQ(count(), 0);
}

} // namespace troupe::node::home_desk_test
