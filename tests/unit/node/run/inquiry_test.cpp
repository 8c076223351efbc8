// For how long a process waits for a server's word.

#include "node/join/inquiry.hpp"

#include <atomic>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "node/join/join.hpp"

namespace troupe::node {
namespace {

/// A server that says nothing, or gives its terms at once.
class somebody final : public transport::endpoint {
public:
  explicit somebody(inquiry* asks = nullptr) : asks_(asks) {
    // nop
  }

  std::size_t send(peer_id, messages::any_message x) override {
    ++asked;
    const auto* question = std::get_if<messages::terms_asked>(&x);
    if (asks_ && question) {
      messages::terms_given answer;
      answer.nonce = question->nonce;
      asks_->heard(messages::any_message{std::move(answer)});
    }
    return 1;
  }

  int asked = 0;

private:
  inquiry* asks_;
};

/// One that answers when a test has it answer.
class late_server final : public transport::endpoint {
public:
  std::size_t send(peer_id, messages::any_message x) override {
    if (const auto* question = std::get_if<messages::terms_asked>(&x))
      heard.push_back(question->nonce);
    return 1;
  }

  void answer(inquiry& to, std::uint64_t nonce) {
    messages::terms_given out;
    out.nonce = nonce;
    to.heard(messages::any_message{std::move(out)});
  }

  std::vector<std::uint64_t> heard; ///< Nonces, as they came.
};

constexpr double a_moment = 0.001; ///< Seconds.

/// How often it looks for an answer of nobody, where somebody stops it after
/// the third time.
int looks_within(double seconds) {
  somebody nobody;
  inquiry testee;
  std::atomic<bool> stop{false};
  int looks = 0;
  const auto found = testee.ask<messages::terms_given>(
    nobody, messages::terms_asked{},
    {.seconds = seconds, .stop = &stop, .meanwhile = [&] {
       stop = ++looks == 3;
     }});
  EXPECT_FALSE(found);
  EXPECT_EQ(nobody.asked, 1);
  return looks;
}

} // namespace

TEST(inquiry, ends_where_nobody_answers_in_time) {
  EXPECT_EQ(looks_within(0.001), 1);
}

TEST(inquiry, has_no_end_where_none_is_given) {
  EXPECT_EQ(looks_within(0), 3);
}

TEST(inquiry, has_no_end_once_there_was_an_answer) {
  first_contact testee{60};
  EXPECT_EQ(testee.seconds(), 60);
  testee.is_made();
  EXPECT_EQ(testee.seconds(), 0);
}

TEST(inquiry, of_who_joins_ends_after_a_minute_unless_it_says_otherwise) {
  EXPECT_EQ(join_context{}.wait, 60);
}

TEST(inquiry, ends_with_the_answer) {
  inquiry testee;
  somebody prompt{&testee};
  int looks = 0;
  const auto found = testee.ask<messages::terms_given>(
    prompt, messages::terms_asked{},
    {.seconds = 0, .meanwhile = [&] { ++looks; }});
  EXPECT_TRUE(found);
  EXPECT_EQ(looks, 0);
}

// Else who is always slower than patience is never heard.
TEST(open_question, is_answered_by_what_comes_after_its_time) {
  inquiry asks;
  late_server server;
  open_question<messages::terms_given, messages::terms_asked> testee;
  EXPECT_FALSE(testee.is_open());
  testee.raise();
  EXPECT_FALSE(testee.ask(asks, server, {.seconds = a_moment}));
  EXPECT_TRUE(testee.is_open());
  server.answer(asks, server.heard.at(0));
  EXPECT_TRUE(testee.ask(asks, server, {.seconds = a_moment}));
  EXPECT_FALSE(testee.is_open());
}

TEST(open_question, takes_no_answer_of_who_served_before) {
  inquiry asks;
  late_server server;
  open_question<messages::terms_given, messages::terms_asked> testee;
  testee.raise();
  EXPECT_FALSE(testee.ask(asks, server, {.seconds = a_moment}));
  testee.raise();
  server.answer(asks, server.heard.at(0));
  EXPECT_FALSE(testee.ask(asks, server, {.seconds = a_moment}));
  EXPECT_NE(server.heard.at(1), server.heard.at(0));
  server.answer(asks, server.heard.at(1));
  EXPECT_TRUE(testee.ask(asks, server, {.seconds = a_moment}));
}

} // namespace troupe::node
