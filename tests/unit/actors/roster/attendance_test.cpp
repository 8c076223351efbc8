#include "actors/roster/attendance.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace troupe::actors::attendance_test {

namespace {

using messages::farewell_reason;

constexpr instant at(int x) {
  return std::chrono::seconds{x};
}

messages::hello_heard hello_of(std::uint64_t client,
                               std::uint64_t incarnation = 1) {
  return {{9},
          {.client = {client},
           .incarnation = incarnation,
           .layout = {4, 2},
           .nonce = 77,
           .examples = 100}};
}

attendance made() {
  return attendance{
    {.layout = {4, 2}, .examples_max = 100, .silence_max = at(10)}};
}

/// What `change` makes of a hello that would be admitted.
template <class F>
messages::hello_judged judged(F change) {
  auto x = hello_of(1);
  change(x.what);
  return made().judge(x, at(0));
}

} // namespace

TEST(attendance, admits_with_a_session_of_its_own_each_time) {
  auto testee = made();
  const auto first = testee.judge(hello_of(1), at(0));
  const auto second = testee.judge(hello_of(2), at(0));
  const auto again = testee.judge(hello_of(1), at(1));
  for (const auto& x : {first, second, again})
    EXPECT_FALSE(x.refusal) << x.text;
  EXPECT_EQ(first.peer, peer_id{9});
  EXPECT_EQ(first.what.nonce, 77u);
  EXPECT_LT(first.session, second.session);
  EXPECT_LT(second.session, again.session);
}

TEST(attendance, says_why_not) {
  const auto protocol = judged([](auto& x) {
    x.protocol_min = x.protocol_max = messages::protocol_version + 1;
  });
  EXPECT_EQ(protocol.refusal, farewell_reason::protocol);
  EXPECT_EQ(protocol.text, "this server speaks protocol 1, the client 2 to 2");
  const auto layout = judged([](auto& x) { x.layout[31] = 1; });
  EXPECT_EQ(layout.refusal, farewell_reason::layout);
  EXPECT_EQ(layout.text,
            "the client's model has another layout than the server's");
  const auto examples = judged([](auto& x) { x.examples = 101; });
  EXPECT_EQ(examples.refusal, farewell_reason::refused);
  EXPECT_EQ(examples.text, "101 examples are above 'samples_max' = 100");
  for (const std::uint64_t id : {std::uint64_t{0}, limits::clients_max + 1})
    EXPECT_EQ(judged([id](auto& x) { x.client = {id}; }).refusal,
              farewell_reason::refused);
  EXPECT_EQ(judged([](auto& x) { x.protocol_min = 0; }).refusal, std::nullopt);
  EXPECT_EQ(layout.session, session_id{});
}

// Though it says the layout that it was told.
TEST(attendance, admits_nobody_who_does_not_read_what_is_rounded) {
  attendance testee{
    {.layout = {4, 2}, .protocol = messages::protocol_with_bf16}};
  auto who = hello_of(1);
  const auto older = testee.judge(who, at(0));
  EXPECT_EQ(older.refusal, farewell_reason::protocol);
  EXPECT_EQ(older.text, "this server speaks protocol 2, the client 1 to 1");
  who.what.protocol_max = messages::protocol_with_bf16;
  EXPECT_FALSE(testee.judge(who, at(0)).refusal);
}

TEST(attendance, takes_no_more_examples_than_a_client_is_known_to_have) {
  attendance testee{
    {.layout = {4, 2}, .examples_max = 1000, .examples_of = [](client_id x) {
       return std::uint64_t{x.value == 1 ? 99U : 0U};
     }}};
  const auto lies = testee.judge(hello_of(1), at(0));
  EXPECT_EQ(lies.refusal, farewell_reason::refused);
  EXPECT_EQ(lies.text, "100 examples are more than the 99 that this client has "
                       "of the run's data");
  EXPECT_FALSE(testee.judge(hello_of(2), at(0)).refusal) << "nobody knows";
}

// Else one lie would keep the owner out for ever.
TEST(attendance, lets_an_incarnation_grow_by_so_much) {
  auto testee = made();
  const auto most = std::uint64_t{1} << 32;
  EXPECT_EQ(testee.judge(hello_of(1, ~std::uint64_t{0}), at(0)).refusal,
            farewell_reason::refused);
  EXPECT_EQ(testee.judge(hello_of(1, most + 1), at(0)).refusal,
            farewell_reason::refused);
  EXPECT_FALSE(testee.judge(hello_of(1, 5), at(0)).refusal);
  EXPECT_FALSE(testee.judge(hello_of(1, 5 + most), at(0)).refusal);
  EXPECT_TRUE(testee.judge(hello_of(1, 6 + 2 * most), at(0)).refusal);
}

TEST(attendance, an_older_incarnation_never_comes_back) {
  auto testee = made();
  EXPECT_FALSE(testee.judge(hello_of(1, 5), at(0)).refusal);
  EXPECT_EQ(testee.judge(hello_of(1, 4), at(0)).refusal,
            farewell_reason::superseded);
  EXPECT_EQ(testee.judge(hello_of(1, 4), at(0)).newest, 0u) << "it is here";
  testee.leave({1});
  const auto old = testee.judge(hello_of(1, 4), at(0));
  EXPECT_EQ(old.refusal, farewell_reason::superseded);
  EXPECT_EQ(old.newest, 5u);
  EXPECT_FALSE(testee.judge(hello_of(1, 6), at(0)).refusal);
}

TEST(attendance, a_refusal_changes_nothing) {
  auto testee = made();
  testee.judge(hello_of(1, 5), at(0));
  auto damaged = hello_of(1, 9);
  damaged.what.layout = {};
  EXPECT_TRUE(testee.judge(damaged, at(8)).refusal);
  EXPECT_FALSE(testee.judge(hello_of(2), at(8)).refusal);
  EXPECT_EQ(testee.lost(at(11)),
            std::vector{client_id{1}}); // It did not speak.
  EXPECT_FALSE(
    testee.judge(hello_of(1, 5), at(12)).refusal); // Nor did it grow.
}

TEST(attendance, who_beats_is_not_lost_and_who_is_silent_is_lost_once) {
  auto testee = made();
  testee.judge(hello_of(1), at(0));
  testee.judge(hello_of(2), at(0));
  testee.judge(hello_of(3), at(0));
  testee.leave({3});
  EXPECT_TRUE(testee.lost(at(10)).empty());
  testee.beat({1}, at(5));
  testee.beat({8}, at(5)); // Nobody.
  EXPECT_EQ(testee.lost(at(11)), std::vector{client_id{2}});
  EXPECT_TRUE(testee.lost(at(15)).empty());
  EXPECT_EQ(testee.lost(at(16)), std::vector{client_id{1}});
  testee.judge(hello_of(2), at(20));
  EXPECT_EQ(testee.lost(at(31)), std::vector{client_id{2}});
}

TEST(attendance, without_a_limit_nobody_is_lost) {
  attendance testee{{.layout = {4, 2}}};
  EXPECT_FALSE(testee.judge(hello_of(1), at(0)).refusal);
  EXPECT_TRUE(testee.lost(at(1'000'000)).empty());
}

} // namespace troupe::actors::attendance_test
