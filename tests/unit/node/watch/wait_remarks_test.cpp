#include "node/watch/wait_remarks.hpp"

#include <gtest/gtest.h>

#include <string>

namespace troupe::test::wait_remarks_test {

namespace {

const actors::wait busy{
  .code = "busy", .what = "it is at one thing", .ends = "that is done"};
const actors::wait absent{
  .code = "clients", .what = "nobody is here", .ends = "somebody comes"};
const actors::wait nothing{.code = "nothing", .what = {}, .ends = {}};

} // namespace

// It reads as a fault, and is what a run does that trains.
TEST(wait_remarks, say_once_that_a_run_is_at_work) {
  node::wait_remarks said;
  EXPECT_EQ(said.look(busy, {.now_ms = 9'999}), "") << "no ten seconds";
  const auto first = said.look(busy, {.now_ms = 10'000});
  EXPECT_EQ(first.substr(0, 18), "at work   a visit,");
  EXPECT_EQ(said.look(busy, {.now_ms = 200'000}), "");
  EXPECT_EQ(said.look(nothing, {.now_ms = 200'500, .progress_ms = 200'400}), "")
    << "nobody was told of a wait that would be over";
  EXPECT_EQ(said.look(busy, {.now_ms = 400'000, .progress_ms = 200'400}), "");
}

TEST(wait_remarks, say_each_wait_until_it_is_over) {
  node::wait_remarks said;
  EXPECT_EQ(said.look(absent, {.now_ms = 9'999}), "");
  const std::string text = "waiting   nobody is here\nuntil     somebody comes";
  EXPECT_EQ(said.look(absent, {.now_ms = 10'000}), text);
  EXPECT_EQ(said.look(absent, {.now_ms = 69'999}), "");
  EXPECT_EQ(said.look(busy, {.now_ms = 69'999}).substr(0, 7), "at work");
  EXPECT_EQ(said.look(absent, {.now_ms = 70'000}), text);
  EXPECT_EQ(said.look(nothing, {.now_ms = 70'500}), "it goes on");
  EXPECT_EQ(said.look(nothing, {.now_ms = 71'000}), "");
}

TEST(wait_remarks, say_at_once_what_fails_and_all_of_who_serves) {
  node::wait_remarks said;
  const actors::wait full{.code = "disk", .what = "full", .ends = "room"};
  EXPECT_EQ(said.look(full, {}), "waiting   full\nuntil     room");
  EXPECT_EQ(said.look(busy, {.now_ms = 10'000, .is_served = true}),
            "waiting   it is at one thing\nuntil     that is done");
}

} // namespace troupe::test::wait_remarks_test
