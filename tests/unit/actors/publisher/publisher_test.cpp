// What is evaluated when, and what is asked of it.

#include "actors/publisher/publisher.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/atom.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

namespace troupe::actors::publisher_test {

namespace {

/// What it heard.
class listener final : public audience {
public:
  void published(const messages::version_published&, instant) override {
    // nop
  }

  void failed(const messages::client_failed&, instant) override {
    // nop
  }

  void counted(const messages::round_counted& x, instant) override {
    rounds = x.rounds;
  }

  void evaluated(const messages::evaluation_finished& x, const version_heads&,
                 instant) override {
    all.push_back(x);
  }

  void left_out(version, instant) override {
    // nop
  }

  void finished(const messages::run_finished&,
                const std::optional<messages::evaluation_finished>& x,
                instant) override {
    last = x;
  }

  std::uint64_t rounds = 0;
  std::vector<messages::evaluation_finished> all;
  std::optional<messages::evaluation_finished> last;
};

/// Of one line, at version 0.
struct publishing : testing::Test {
  publishing() {
    config.set("scheduler.policy", caf::atom("testing"));
  }

  void begin(publisher_args args) {
    system.emplace(config);
    auto others = std::make_shared<cast>();
    // With an argument each: CAF reads through a null pointer where there is
    // none.
    const auto evaluator = system->spawn(
      [this](caf::event_based_actor*, int) -> caf::behavior {
        return {[this](const messages::evaluation_requested& x) {
          asked.push_back(x.input);
          return messages::evaluation_finished{
            .line = x.line, .head = x.head, .scores = {}, .problem = {}};
        }};
      },
      0);
    const auto gateway = system->spawn(
      [](caf::event_based_actor*, int) -> caf::behavior {
        return {[](const messages::version_announced&) {},
                [](const messages::run_finished&) {}};
      },
      0);
    const auto director = system->spawn(
      [](caf::event_based_actor*, int) -> caf::behavior {
        return {[](const messages::evaluation_finished&) {}};
      },
      0);
    others->whole = true;
    others->evaluator = caf::actor_cast<evaluator_actor>(evaluator);
    others->gateway = caf::actor_cast<gateway_actor>(gateway);
    others->director = caf::actor_cast<director_actor>(director);
    args.heads[{1}] = version_of(0);
    args.watching = heard;
    args.others = others;
    args.started = system->clock().now();
    who = caf::actor_cast<publisher_actor>(
      system->spawn(publisher, std::move(args)));
    helpers = {evaluator, gateway, director};
    mail().run();
  }

  static publisher_args every(std::uint64_t versions) {
    publisher_args x{};
    x.evaluate_every = versions;
    return x;
  }

  static messages::version_published version_of(std::uint64_t head) {
    return {
      .line = {1}, .head = {head}, .round = {}, .blocks = {}, .merged = {}};
  }

  caf::scheduler::test_coordinator& mail() {
    return dynamic_cast<caf::scheduler::test_coordinator&>(system->scheduler());
  }

  /// And all that follows in this instant.
  template <class T>
  void tell(const T& x) {
    caf::anon_send(who, x);
    mail().run();
    mail().advance_time(std::chrono::milliseconds{1});
    mail().run();
  }

  void TearDown() override {
    for (auto& x : helpers)
      caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
    mail().run();
    helpers.clear();
    who = nullptr;
  }

  caf::actor_system_config config;
  std::optional<caf::actor_system> system;
  publisher_actor who;
  std::vector<caf::actor> helpers;
  std::vector<models::evaluation_input> asked;
  std::shared_ptr<listener> heard = std::make_shared<listener>();
};

} // namespace

TEST_F(publishing, asks_for_what_was_set_aside_at_the_end_alone) {
  auto args = every(2);
  args.score_aside = false;
  begin(args);
  for (const std::uint64_t head : {1, 2, 3, 4})
    tell(version_of(head));
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_FALSE(asked[0].aside);
  EXPECT_FALSE(asked[1].aside);
  tell(messages::run_finished{"enough", false});
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_TRUE(asked[2].aside);
  EXPECT_TRUE(asked[2].per_client);
}

TEST_F(publishing, asks_for_what_was_set_aside_where_it_is_watched) {
  begin(every(2));
  tell(version_of(2));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(asked[0].aside);
}

// What is due then, and the last: one question, asked twice.
TEST_F(publishing, asks_the_same_of_a_version_that_is_the_last) {
  auto args = every(2);
  args.score_clients = true;
  args.score_aside = false;
  begin(args);
  caf::anon_send(who, version_of(2));
  tell(messages::run_finished{"enough", false});
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_TRUE(asked[0].aside && asked[1].aside);
  EXPECT_TRUE(asked[0].per_client && asked[1].per_client);
}

TEST_F(publishing, has_rounds_scored_where_no_version_comes) {
  auto args = every(5);
  args.offers = false;
  begin(args);
  for (std::uint64_t round = 1; round <= 11; ++round)
    tell(messages::round_counted{.rounds = round});
  EXPECT_EQ(heard->rounds, 11u);
  ASSERT_EQ(heard->all.size(), 2u);
  EXPECT_EQ(heard->all[0].rounds, 5u);
  EXPECT_EQ(heard->all[1].rounds, 10u);
  EXPECT_EQ(heard->all[1].head, version{0});
  tell(messages::run_finished{
    .reason = "enough", .failed = false, .heads = {}, .rounds = 11});
  ASSERT_TRUE(heard->last);
  EXPECT_EQ(heard->last->rounds, 11u);
}

TEST_F(publishing, has_no_round_scored_where_versions_come) {
  begin(every(1));
  tell(messages::round_counted{.rounds = 1});
  EXPECT_TRUE(asked.empty());
  tell(version_of(1));
  ASSERT_EQ(heard->all.size(), 1u);
  EXPECT_EQ(heard->all[0].rounds, 0u);
}

// They say how far a run is where nothing else does, and are none.
TEST_F(publishing, tells_nobody_of_rounds_that_are_of_visits) {
  auto args = every(1);
  args.offers = false;
  begin(args);
  tell(messages::round_counted{.rounds = 3, .is_of_visits = true});
  EXPECT_EQ(heard->rounds, 0u);
  ASSERT_EQ(heard->all.size(), 1u);
  EXPECT_EQ(heard->all[0].rounds, 3u);
}

} // namespace troupe::actors::publisher_test
