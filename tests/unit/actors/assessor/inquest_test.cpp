#include <gtest/gtest.h>

#include <limits>

#include "actors/assessor/inquest.hpp"

namespace troupe::actors::inquest_test {
namespace {

using namespace std::chrono_literals;
using messages::told_score;

constexpr peer_id first{1};
constexpr peer_id second{2};

struct inquest_test : testing::Test {
  inquest_test() {
    models::evaluated scores;
    scores.global = {.loss = 1, .correct = 2, .count = 3};
    x.scored(scores);
    x.asked({.question = 7, .asked = {{first, {{1}, {2}}}, {second, {{3}}}}});
  }

  std::size_t hear(peer_id from, std::vector<told_score> scores,
                   std::uint64_t question = 7) {
    return x.heard({from, {question, std::move(scores)}});
  }

  inquest x{7, 60s};
};

TEST_F(inquest_test, is_over_when_all_who_were_asked_have_answered) {
  EXPECT_EQ(hear(first, {{{1}, 10, 9, 0.5}}), 1U);
  EXPECT_EQ(hear(second, {{{3}, 4, 1, 2.5}}), 1U);
  EXPECT_FALSE(x.is_over(59s));
  EXPECT_EQ(hear(first, {{{2}, 0, 0, 0, 5, 4, 1.5}}), 1U);
  ASSERT_TRUE(x.is_over(0s));
  const auto all = x.take({1}, {2});
  EXPECT_EQ(all.asked, 3U);
  EXPECT_EQ(all.head, version{2});
  EXPECT_EQ(all.scores.global.count, 3U);
  ASSERT_EQ(all.scores.per_client.size(), 2U);
  EXPECT_EQ(all.scores.per_client.at({1}).correct, 9U);
  EXPECT_EQ(all.scores.per_client.at({3}).loss, 2.5);
  ASSERT_EQ(all.scores.own_validation.size(), 1U);
  EXPECT_EQ(all.scores.own_validation.at({2}).correct, 4U);
}

TEST_F(inquest_test, leaves_out_who_has_not_answered_in_time) {
  (void)hear(first, {{{1}, 10, 9, 0.5}});
  EXPECT_FALSE(x.is_over(59s));
  ASSERT_TRUE(x.is_over(60s));
  const auto all = x.take({1}, {2});
  EXPECT_EQ(all.asked, 3U);
  EXPECT_EQ(all.scores.per_client.size(), 1U);
}

TEST_F(inquest_test, hears_a_process_for_its_own_clients_alone_and_each_once) {
  EXPECT_EQ(hear(second, {{{1}, 10, 10, 0}}), 0U);
  EXPECT_EQ(hear(first, {{{9}, 10, 10, 0}}), 0U);
  EXPECT_EQ(hear({3}, {{{3}, 10, 10, 0}}), 0U);
  EXPECT_EQ(hear(first, {{{1}, 10, 2, 0}, {{1}, 10, 10, 0}}), 1U);
  EXPECT_EQ(hear(first, {{{1}, 10, 10, 0}}), 0U);
  EXPECT_EQ(x.take({1}, {2}).scores.per_client.at({1}).correct, 2U);
}

TEST_F(inquest_test, hears_no_answer_to_another_question) {
  EXPECT_EQ(hear(first, {{{1}, 10, 9, 0}}, 6), 0U);
  EXPECT_EQ(hear(first, {{{1}, 10, 9, 0}}, 8), 0U);
}

// A process on this machine is quicker than the gateway's word of whom it
// asked.
TEST(inquest, hears_who_answers_before_it_is_known_who_was_asked) {
  inquest x{7, 60s};
  x.heard({first, {7, {{{1}, 10, 9, 0.5}, {{9}, 10, 9, 0.5}}}});
  x.heard({first, {6, {{{2}, 10, 1, 0.5}}}});
  x.heard({second, {7, {{{2}, 10, 1, 0.5}}}});
  x.scored({});
  EXPECT_FALSE(x.is_over(0s));
  x.asked({.question = 7, .asked = {{first, {{1}, {2}}}}});
  EXPECT_FALSE(x.is_over(0s)) << "nobody who may has answered for client 2";
  x.heard({first, {7, {{{2}, 10, 3, 0.5}}}});
  ASSERT_TRUE(x.is_over(0s));
  const auto all = x.take({1}, {2});
  ASSERT_EQ(all.scores.per_client.size(), 2U);
  EXPECT_EQ(all.scores.per_client.at({1}).correct, 9U);
  EXPECT_EQ(all.scores.per_client.at({2}).correct, 3U);
}

TEST(inquest, has_no_room_for_who_says_more_than_all_others) {
  inquest x{7, 60s};
  const std::vector<told_score> many(messages::scores_told::clients_max,
                                     {{2}, 10, 9, 0.5});
  for (int i = 0; i < 1000; ++i)
    x.heard({second, {7, many}});
  x.heard({first, {7, {{{1}, 10, 9, 0.5}}}});
  // Once there is room again: what one process says is one process's.
  const auto flooded = 66 * many.size();
  for (std::size_t i = 1000 % 66; i < flooded / many.size(); ++i)
    x.heard({second, {7, many}});
  x.scored({});
  x.asked({.question = 7, .asked = {{first, {{1}}}, {second, {{2}}}}});
  EXPECT_FALSE(x.is_over(0s)) << "all of that was kept";
  x.heard({second, {7, {{{2}, 10, 3, 0.5}}}});
  ASSERT_TRUE(x.is_over(0s)) << "who said little has to pay for it";
}

TEST_F(inquest_test, believes_nothing_that_cannot_be) {
  constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
  constexpr auto infinite = std::numeric_limits<double>::infinity();
  const std::vector<told_score> wrong{
    {{1}, 10, 11, 0},
    {{1}, 10, 9, nan},
    {{1}, 10, 9, -infinite},
    {{1}, 10, 9, 1e14},
    {{1}, 0, 0, 1},
    {{1}, 10, 9, 0, 3, 4, 0},
    {{1}, 10, 9, 0, 3, 2, nan},
    {{1}, std::numeric_limits<std::uint64_t>::max(), 9, 0}};
  for (const auto& one : wrong)
    EXPECT_EQ(hear(first, {one}), 0U);
  EXPECT_EQ(hear(first, {{{1}, 10, 10, 1e13}}), 1U);
}

TEST_F(inquest_test, waits_for_nobody_of_whom_nothing_is_heard) {
  (void)hear(first, {{{1}, 10, 9, 0.5}});
  x.spoke({first, second});
  EXPECT_FALSE(x.is_over(6s));
  x.spoke({first});
  EXPECT_FALSE(x.is_over(7s)); // Client 2 is of the first.
  (void)hear(first, {{{2}, 10, 9, 0.5}});
  EXPECT_TRUE(x.is_over(7s));
  EXPECT_EQ(hear(second, {{{3}, 10, 9, 0.5}}), 1U); // In time after all.
  const auto all = x.take({1}, {2});
  EXPECT_EQ(all.asked, 3U);
  EXPECT_EQ(all.scores.per_client.size(), 3U);
}

TEST(inquest, waits_for_nobody_where_nobody_is_here) {
  inquest x{1, 60s};
  x.asked({.question = 1, .asked = {}});
  EXPECT_FALSE(x.is_over(60s)); // What is here is not scored yet.
  x.scored({});
  EXPECT_TRUE(x.is_over(0s));
  EXPECT_EQ(x.take({1}, {2}).asked, 0U);
}

// Who is held out has its rows here, and nobody is asked for it.
TEST_F(inquest_test, keeps_what_was_scored_here_beside_what_was_told) {
  models::evaluated here;
  here.per_client[{9}] = {.loss = 1, .correct = 3, .count = 4};
  here.per_client[{1}] = {.loss = 1, .correct = 0, .count = 4};
  x.scored(here);
  EXPECT_EQ(hear(first, {{{1}, 10, 9, 0.5}, {{2}, 10, 9, 0.5}}), 2U);
  EXPECT_EQ(hear(second, {{{3}, 10, 9, 0.5}}), 1U);
  const auto all = x.take({1}, {2});
  ASSERT_EQ(all.scores.per_client.size(), 4U);
  EXPECT_EQ(all.scores.per_client.at({9}).correct, 3U);
  EXPECT_EQ(all.scores.per_client.at({1}).correct, 9U); // It said so itself.
  EXPECT_EQ(all.asked, 3U);
}

} // namespace
} // namespace troupe::actors::inquest_test
