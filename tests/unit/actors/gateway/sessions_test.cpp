#include "actors/gateway/sessions.hpp"

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace troupe::actors::sessions_test {

namespace {

messages::hello_judged judged(std::uint64_t peer, std::uint64_t client,
                              std::uint64_t session = 1) {
  return {.peer = {peer},
          .what = {.client = {client}, .examples = 10 * client},
          .session = {session},
          .refusal = {},
          .text = {}};
}

} // namespace

TEST(sessions, a_peer_is_the_client_that_said_hello) {
  sessions testee;
  EXPECT_EQ(testee.of({7}), nullptr);
  EXPECT_FALSE(testee.open(judged(7, 1, 5)));
  ASSERT_NE(testee.of({7}), nullptr);
  EXPECT_EQ(testee.of({7})->client, client_id{1});
  EXPECT_EQ(testee.of({7})->id, session_id{5});
  EXPECT_EQ(testee.of({7})->examples, 10u);
  EXPECT_EQ(testee.peer_of({1}), peer_id{7});
}

TEST(sessions, show_once_a_second_that_their_clients_are_there) {
  using namespace std::chrono_literals;
  sessions testee;
  testee.open(judged(7, 1));
  testee.open(judged(8, 2));
  EXPECT_TRUE(testee.shows({7}, 0s));
  EXPECT_FALSE(testee.shows({7}, 999ms));
  EXPECT_TRUE(testee.shows({8}, 999ms));
  EXPECT_TRUE(testee.shows({7}, 1s));
  EXPECT_FALSE(testee.shows({7}, 1999ms));
  testee.open(judged(7, 1, 2));
  EXPECT_TRUE(testee.shows({7}, 1999ms)) << "it is another session";
}

TEST(sessions, a_newer_session_takes_the_place_of_the_older) {
  sessions testee;
  testee.open(judged(7, 1));
  const auto ended = testee.open(judged(8, 1));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->peer, peer_id{7});
  EXPECT_EQ(testee.of({7}), nullptr);
  EXPECT_EQ(testee.peer_of({1}), peer_id{8});
}

// Its hello may be judged after its leave, and nobody would be there.
TEST(sessions, who_left_before_it_was_judged_is_gone) {
  sessions testee;
  const auto hello = [](std::uint64_t nonce) {
    auto x = judged(7, 1);
    x.what.nonce = nonce;
    return x;
  };
  EXPECT_FALSE(testee.give_up({7})); // It has not asked.
  testee.ask({7}, hello(1).what);
  EXPECT_FALSE(testee.is_gone(hello(1)));
  EXPECT_FALSE(testee.give_up({7})); // It is judged.
  testee.ask({7}, hello(2).what);
  EXPECT_TRUE(testee.give_up({7}));
  EXPECT_TRUE(testee.is_gone(hello(2)));
  // It comes back before the first is judged.
  testee.ask({7}, hello(3).what);
  EXPECT_TRUE(testee.give_up({7}));
  testee.ask({7}, hello(4).what);
  EXPECT_FALSE(testee.is_gone(hello(3)));
  EXPECT_FALSE(testee.is_gone(hello(4)));
}

TEST(sessions, a_peer_waits_for_the_judgement_of_one_hello) {
  sessions testee;
  const auto hello = [](std::uint64_t client, std::uint64_t nonce) {
    return messages::hello{.client = {client}, .nonce = nonce};
  };
  EXPECT_FALSE(testee.waits({7}, hello(1, 1)));
  testee.ask({7}, judged(7, 1).what);
  EXPECT_TRUE(testee.waits({7}, hello(1, 0))) << "it is the same";
  EXPECT_FALSE(testee.waits({7}, hello(1, 1))) << "it begins anew";
  EXPECT_FALSE(testee.waits({8}, hello(2, 0)));
  EXPECT_TRUE(testee.waits({7}, hello(2, 1)));
  EXPECT_TRUE(testee.give_up({7}));
  EXPECT_TRUE(testee.waits({7}, hello(2, 1))) << "it is still to be judged";
  EXPECT_TRUE(testee.is_gone(judged(7, 1)));
  EXPECT_FALSE(testee.waits({7}, hello(2, 1)));
}

TEST(sessions, know_the_hello_that_opened_them) {
  sessions testee;
  const messages::hello same{.client = {1}, .nonce = 0};
  EXPECT_EQ(testee.opened_by({7}, same), nullptr);
  testee.open(judged(7, 1, 5));
  ASSERT_NE(testee.opened_by({7}, same), nullptr);
  EXPECT_EQ(testee.opened_by({7}, same)->id, session_id{5});
  EXPECT_EQ(testee.opened_by({8}, same), nullptr);
  EXPECT_EQ(testee.opened_by({7}, {.client = {1}, .nonce = 1}), nullptr);
  EXPECT_EQ(testee.opened_by({7}, {.client = {2}, .nonce = 0}), nullptr);
  EXPECT_EQ(
    testee.opened_by({7}, {.client = {1}, .incarnation = 2, .nonce = 0}),
    nullptr)
    << "it lives anew";
  testee.close({1});
  EXPECT_EQ(testee.opened_by({7}, same), nullptr);
}

// Its key was good when it said hello.
TEST(sessions, who_is_denied_before_it_is_judged_is_gone) {
  sessions testee;
  testee.open(judged(7, 1));
  testee.ask({7}, judged(7, 1).what);
  testee.ask({8}, judged(8, 2).what);
  testee.turn_out({1});
  EXPECT_EQ(testee.of({7}), nullptr);
  EXPECT_TRUE(testee.is_gone(judged(7, 1)));
  EXPECT_FALSE(testee.is_gone(judged(8, 2)));
}

TEST(sessions, the_same_hello_again_ends_nothing) {
  sessions testee;
  testee.open(judged(7, 1, 1));
  EXPECT_FALSE(testee.open(judged(7, 1, 2)));
  EXPECT_EQ(testee.of({7})->id, session_id{2});
}

TEST(sessions, a_peer_may_become_another_client) {
  sessions testee;
  testee.open(judged(7, 1));
  EXPECT_FALSE(testee.open(judged(7, 2)));
  EXPECT_EQ(testee.of({7})->client, client_id{2});
  EXPECT_FALSE(testee.peer_of({1}));
}

TEST(sessions, closing_what_is_not_open_does_nothing) {
  sessions testee;
  testee.open(judged(7, 1));
  testee.close({2});
  EXPECT_EQ(testee.all().size(), 1u);
  testee.close({1});
  testee.close({1});
  EXPECT_TRUE(testee.all().empty());
  EXPECT_EQ(testee.of({7}), nullptr);
}

TEST(sessions, both_directions_always_agree) {
  random_stream random{1};
  sessions testee;
  for (int i = 0; i < 2000; ++i) {
    const auto client = 1 + random.below(4);
    if (random.chance(0.3))
      testee.close({client});
    else
      testee.open(judged(1 + random.below(4), client));
    std::size_t clients = 0;
    for (std::uint64_t c = 1; c <= 4; ++c)
      if (const auto peer = testee.peer_of({c})) {
        ++clients;
        ASSERT_NE(testee.of(*peer), nullptr);
        EXPECT_EQ(testee.of(*peer)->client, client_id{c});
      }
    EXPECT_EQ(testee.all().size(), clients);
  }
}

} // namespace troupe::actors::sessions_test
