// Rounds of a method that merges nothing, as the record has them of a run whose
// server began again.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/atom.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include "actors/publisher/publisher.hpp"
#include "node/report/flat_record.hpp"
#include "node/run/herald.hpp"
#include "node/watch/chronicle.hpp"

namespace troupe::test::scored_rounds_test {

namespace {

using rounds = std::vector<std::uint64_t>;

/// Each fifth round is scored.
struct scored_rounds : testing::Test {
  scored_rounds() {
    config.set("scheduler.policy", caf::atom("testing"));
  }

  /// Of a folder whose metrics.jsonl has this round last.
  void watch(std::uint64_t last) {
    auto blocks = std::make_shared<models::layout>();
    auto& model = blocks->blocks.emplace_back();
    model.id = {1};
    model.line = {1};
    model.name = model.family = "model";
    blocks->lines.push_back({.id = {1}, .name = "model", .blocks = {{1}}});
    node::progress_report before;
    before.rounds_scored = last;
    node::chronicle::options opts{
      .blocks = blocks,
      .begin = before,
      .clients = 4,
      .metrics = [this](const std::string& line) { lines.push_back(line); },
      .show = [](const node::progress_report&) {}};
    watching = std::make_shared<node::herald>(
      std::make_shared<node::chronicle>(std::move(opts)),
      std::make_shared<node::world_place>());
    system.emplace(config);
    // With an argument each: CAF reads through a null pointer where there is
    // none.
    const auto evaluator = system->spawn(
      [](caf::event_based_actor*, int) -> caf::behavior {
        return {[](const messages::evaluation_requested& x) {
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
    others->evaluator = caf::actor_cast<actors::evaluator_actor>(evaluator);
    others->gateway = caf::actor_cast<actors::gateway_actor>(gateway);
    others->director = caf::actor_cast<actors::director_actor>(director);
    helpers = {evaluator, gateway, director};
    begin();
  }

  /// Likewise where the node was built anew.
  void begin() {
    end();
    actors::publisher_args args{};
    args.heads[{1}] = messages::version_published{
      .line = {1}, .head = {0}, .round = {}, .blocks = {}, .merged = {}};
    args.evaluate_every = 5;
    args.offers = false;
    args.watching = watching;
    args.others = others;
    args.started = system->clock().now();
    who = caf::actor_cast<actors::publisher_actor>(
      system->spawn(actors::publisher, std::move(args)));
    mail().run();
  }

  void end() {
    if (who)
      caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
    who = nullptr;
    mail().run();
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

  void count(std::uint64_t first, std::uint64_t last, bool is_of_visits) {
    for (auto x = first; x <= last; ++x)
      tell(messages::round_counted{.rounds = x, .is_of_visits = is_of_visits});
  }

  /// Of the evaluations in metrics.jsonl.
  rounds noted() const {
    rounds out;
    node::flat_record x;
    for (const auto& line : lines)
      out.push_back(x.read(line) ? x.count("round") : 0);
    return out;
  }

  void TearDown() override {
    end();
    for (auto& x : helpers)
      caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
    mail().run();
    helpers.clear();
  }

  caf::actor_system_config config;
  std::optional<caf::actor_system> system;
  std::shared_ptr<actors::cast> others = std::make_shared<actors::cast>();
  std::shared_ptr<actors::audience> watching;
  actors::publisher_actor who;
  std::vector<caf::actor> helpers;
  std::vector<std::string> lines;
};

} // namespace

// How many visits are over is not durable.
TEST_F(scored_rounds, go_on_where_visits_are_counted_anew) {
  watch(10);
  count(1, 7, true);
  EXPECT_EQ(noted(), (rounds{15}));
  tell(messages::run_finished{
    .reason = "enough", .failed = false, .heads = {}, .rounds = 7});
  EXPECT_EQ(noted(), (rounds{15, 17}));
}

// It was closed, and not followed by another yet.
TEST_F(scored_rounds, are_scored_once_where_one_is_said_again) {
  watch(10);
  count(10, 10, false);
  EXPECT_EQ(noted(), rounds{});
  count(11, 15, false);
  EXPECT_EQ(noted(), (rounds{15}));
}

TEST_F(scored_rounds, go_on_where_the_node_is_built_anew) {
  watch(0);
  count(1, 6, true);
  begin();
  count(1, 5, true);
  EXPECT_EQ(noted(), (rounds{5, 10}));
}

} // namespace troupe::test::scored_rounds_test
