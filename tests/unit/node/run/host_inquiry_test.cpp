#include "node/join/host_inquiry.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>

namespace troupe::node {
namespace {

using namespace std::chrono_literals;

std::string answer_of(const host_inquiry& x) {
  for (int i = 0; i < 4000 && !x.answer(); ++i)
    std::this_thread::sleep_for(5ms);
  return x.answer().value_or("nothing");
}

// A resolver that is gone is asked again and again, for some ten seconds.
TEST(host_inquiry, is_waited_for_by_nobody) {
  std::promise<std::string> later;
  const auto found = later.get_future().share();
  const auto ask = [found](const std::string& address) {
    return found.wait_for(20s) == std::future_status::ready
             ? address + found.get()
             : "too late";
  };
  const host_inquiry kept{"tcp://ward:7700", ask};
  { const host_inquiry dropped{"tcp://ward:7700", ask}; }
  EXPECT_FALSE(kept.answer());
  later.set_value(" is known");
  EXPECT_EQ(answer_of(kept), "tcp://ward:7700 is known");
}

// A resolver may have no end.
TEST(host_inquiry, is_waited_for_so_long_and_not_beyond_a_word_to_stop) {
  std::promise<std::string> later;
  const auto found = later.get_future().share();
  const host_inquiry testee{
    "tcp://ward:7700", [found](const std::string&) { return found.get(); }};
  EXPECT_FALSE(testee.answer_within(30ms, nullptr));
  std::atomic<bool> stop{true};
  EXPECT_FALSE(testee.answer_within(1h, &stop));
  later.set_value("it is known");
  stop = false;
  EXPECT_EQ(testee.answer_within(20s, &stop), "it is known");
}

TEST(host_inquiry, is_of_this_machine) {
  const host_inquiry known{"tcp://127.0.0.1:7700"};
  EXPECT_EQ(answer_of(known), "");
}

} // namespace
} // namespace troupe::node
