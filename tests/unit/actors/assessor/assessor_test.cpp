#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/atom.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include "actors/assessor/assessor.hpp"
#include "actors/metrics/status.hpp"

namespace troupe::actors {
namespace {

using namespace std::chrono_literals;
using finished = messages::evaluation_finished;

/// Everything that the assessor asks, with answers of the test's.
struct assessor_test : testing::Test {
  assessor_test() {
    config.set("scheduler.policy", caf::atom("testing"));
  }

  void begin() {
    system.emplace(config);
    auto others = std::make_shared<cast>();
    // With an argument each: CAF reads through a null pointer where there is
    // none.
    const auto evaluator = system->spawn(
      [this](caf::event_based_actor*, int) -> caf::behavior {
        return {[this](const messages::evaluation_requested& x) {
                  scored_at_home = x.input.per_client;
                  finished out{.line = x.line,
                               .head = x.head,
                               .scores = {},
                               .problem = {}};
                  out.scores.global = {.loss = 1, .correct = 1, .count = 2};
                  if (has_problem)
                    out.problem = error{errc::diverged, "it diverged"};
                  return out;
                },
                [](const messages::status_asked& x) {
                  x.draft->add_mailbox("evaluator", 7);
                }};
      },
      0);
    const auto gateway = system->spawn(
      [this](caf::event_based_actor*, int) -> caf::behavior {
        return {[this](const messages::scores_wanted& x) {
          question = x.question;
          blocks = x.blocks.size();
          return messages::scores_under_way{x.question, here};
        }};
      },
      0);
    others->whole = true;
    others->gateway = caf::actor_cast<gateway_actor>(gateway);
    started = system->clock().now();
    who = caf::actor_cast<assessor_actor>(system->spawn(
      assessor,
      assessor_args{.evaluator = caf::actor_cast<evaluator_actor>(evaluator),
                    .others = others,
                    .started = started,
                    .first_question = 40,
                    .spoke = [this](instant lately) {
                      EXPECT_EQ(lately, 5s);
                      return speaking;
                    }}));
    helpers = {evaluator, gateway};
    mail().run();
  }

  caf::scheduler::test_coordinator& mail() {
    return dynamic_cast<caf::scheduler::test_coordinator&>(system->scheduler());
  }

  void ask(bool per_client) {
    messages::evaluation_requested x{.line = {1}, .head = {5}, .input = {}};
    x.input.per_client = per_client;
    x.input.versions.push_back({{1}, {5}, share({1.0f})});
    helpers.push_back(system->spawn(
      [this](caf::event_based_actor* self,
             const messages::evaluation_requested& y) {
        self->request(who, caf::infinite, y)
          .then([this](const finished& z) { answer = z; },
                [this](const caf::error&) { is_refused = true; });
      },
      x));
    mail().run();
  }

  void hear(peer_id from, std::vector<messages::told_score> scores) {
    caf::anon_send(who, messages::scores_heard{from, {question, scores}});
    mail().run();
  }

  void pass(instant time) {
    mail().advance_time(time);
    mail().run();
  }

  void end() {
    for (auto& x : helpers)
      caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
    mail().run();
    helpers.clear();
    who = nullptr;
  }

  void TearDown() override {
    end();
  }

  caf::actor_system_config config;
  std::optional<caf::actor_system> system;
  caf::actor_clock::time_point started;
  assessor_actor who;
  std::vector<caf::actor> helpers;
  std::vector<messages::scores_under_way::process> here;
  std::set<peer_id> speaking{{1}, {2}};
  bool has_problem = false;
  std::optional<bool> scored_at_home;
  std::uint64_t question = 0;
  std::size_t blocks = 0;
  std::optional<finished> answer;
  bool is_refused = false;
};

TEST_F(assessor_test, asks_those_who_are_here_and_says_of_how_many_it_is) {
  here = {{{1}, {{1}, {2}}}, {{2}, {{3}}}};
  begin();
  ask(true);
  EXPECT_EQ(question, 41U);
  EXPECT_EQ(blocks, 1U);
  EXPECT_EQ(scored_at_home, false); // What others keep is not looked for here.
  EXPECT_FALSE(answer);
  hear({1}, {{{1}, 10, 9, 0.5}, {{2}, 10, 8, 0.5}});
  EXPECT_FALSE(answer);
  hear({2}, {{{3}, 10, 7, 0.5}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->scores.per_client.size(), 3U);
  EXPECT_EQ(answer->scores.global.count, 2U);
  EXPECT_EQ(answer->asked, 3U);
  EXPECT_EQ(answer->head, version{5});
}

TEST_F(assessor_test, waits_for_nobody_beyond_its_deadline) {
  here = {{{1}, {{1}, {2}}}};
  begin();
  ask(true);
  hear({1}, {{{1}, 10, 9, 0.5}});
  for (int i = 0; i < 59; ++i)
    pass(1s);
  EXPECT_FALSE(answer);
  mail().advance_time(1s);
  mail().run();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->scores.per_client.size(), 1U);
  EXPECT_EQ(answer->asked, 2U);
  hear({1}, {{{2}, 10, 9, 0.5}}); // Too late, and of no question any more.
}

TEST_F(assessor_test, waits_for_no_process_that_says_nothing_at_all) {
  here = {{{1}, {{1}}}, {{2}, {{3}}}};
  speaking = {{1}};
  begin();
  ask(true);
  hear({1}, {{{1}, 10, 9, 0.5}});
  for (int i = 0; i < 4; ++i)
    pass(1s);
  EXPECT_FALSE(answer); // The question may still be on its way.
  pass(1s);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->scores.per_client.size(), 1U);
  EXPECT_EQ(answer->asked, 2U);
}

TEST_F(assessor_test, waits_for_who_says_something_now_and_then) {
  here = {{{1}, {{1}}}};
  begin();
  ask(true);
  for (int i = 0; i < 30; ++i)
    pass(1s);
  EXPECT_FALSE(answer);
  speaking.clear();
  pass(1s);
  EXPECT_TRUE(answer);
}

TEST_F(assessor_test, passes_on_what_no_client_is_asked_about) {
  here = {{{1}, {{1}}}};
  begin();
  ask(false);
  ASSERT_TRUE(answer);
  EXPECT_EQ(question, 0U);
  EXPECT_FALSE(answer->asked);
}

TEST_F(assessor_test, says_at_once_that_versions_cannot_be_scored) {
  here = {{{1}, {{1}}}};
  has_problem = true;
  begin();
  ask(true);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->problem);
}

// Who counts mail knows one evaluator, and this is in its place.
TEST_F(assessor_test, says_what_mail_waits_for_it_and_for_the_evaluator) {
  begin();
  const auto draft = std::make_shared<status_draft>();
  caf::anon_send(who, messages::status_asked{draft});
  mail().run();
  const std::map<std::string, std::uint64_t> both{{"assessor", 0},
                                                  {"evaluator", 7}};
  EXPECT_EQ(draft->taken().mailboxes, both);
}

TEST_F(assessor_test, lets_a_newer_question_take_the_place_of_an_open_one) {
  here = {{{1}, {{1}}}};
  begin();
  ask(true);
  ask(true);
  EXPECT_TRUE(is_refused);
  hear({1}, {{{1}, 10, 9, 0.5}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(question, 42U);
}

} // namespace
} // namespace troupe::actors
