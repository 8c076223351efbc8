// What was scored before is not scored again, and what was set aside where
// somebody asks for it.

#include "models/known_scores.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "models/local_trainer.hpp"
#include "models/tasks/quadratic.hpp"
#include "tests/support/quadratic_federation.hpp"
#include "tests/support/small_recipes.hpp"

namespace troupe::test::known_scores_test {

namespace {

using namespace models;

constexpr quadratic_options three{
  .dimension = 2, .clients = 3, .rows_per_client = 4, .noise = 0.5};

/// How many rows were scored.
struct tally {
  std::uint64_t test = 0;
  std::uint64_t aside = 0;
};

class counted final : public quadratic {
public:
  counted(std::shared_ptr<const quadratic_problem> of, tally& to)
    : quadratic(std::move(of)),
      to_(to) {
    // nop
  }

  result<scores> evaluate(split part,
                          std::span<const std::uint32_t> on) override {
    (part == split::test ? to_.test : to_.aside) += on.size();
    return quadratic::evaluate(part, on);
  }

private:
  tally& to_;
};

/// Three clients, of which two have set rows aside, and two of those are of all
/// together.
struct site {
  site() {
    auto task = std::make_shared<local_task>(*federation.task());
    task->test_size = 3;
    task->clients.validation = {1, 5};
    task->clients.own_validation = {{1}, {5, 6}, {}};
    auto made = make_local_trainer(
      task, std::make_unique<counted>(make_quadratic_problem(three), seen),
      *kernels::make_backend({}));
    EXPECT_TRUE(made) << made.error().context;
    trainer = std::move(*made);
    asked.versions = federation.visit(1, 5).fetched;
    asked.per_client = true;
    asked.states[{2}] = std::make_shared<const client_state>();
  }

  /// With what is known, which it adds to.
  evaluated scored(evaluation_input x) {
    seen = {};
    known.add_to(x);
    if (known.answers(x))
      return *x.known;
    const auto found = trainer->evaluate(x);
    EXPECT_TRUE(found) << found.error().context;
    known.keep(x, *found);
    return *found;
  }

  quadratic_federation federation{
    {.method = shared_model("sgd"), .problem = three}};
  tally seen;
  std::unique_ptr<models::trainer> trainer;
  known_scores known;
  evaluation_input asked;
};

void expect_same(const evaluated& x, const evaluated& y) {
  const auto said = [](const scores& a) {
    return std::tuple{a.loss, a.correct, a.count};
  };
  const auto expect_same_clients = [&](const auto& a, const auto& b) {
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [client, own] : a)
      EXPECT_EQ(said(own), said(b.at(client))) << client.value;
  };
  EXPECT_EQ(said(x.global), said(y.global));
  EXPECT_EQ(said(x.validation), said(y.validation));
  expect_same_clients(x.per_client, y.per_client);
  expect_same_clients(x.own_validation, y.own_validation);
  EXPECT_EQ(x.method_results, y.method_results);
}

} // namespace

TEST(known_scores, score_what_was_set_aside_where_it_is_asked_for) {
  site x;
  auto without = x.asked;
  without.aside = false;
  const auto bare = x.scored(without);
  EXPECT_EQ(x.seen.test, 6u); // All together, and each client's one.
  EXPECT_EQ(x.seen.aside, 0u);
  EXPECT_EQ(bare.validation.count, 0u);
  EXPECT_TRUE(bare.own_validation.empty());
  const auto whole = site{}.scored(x.asked);
  EXPECT_EQ(whole.validation.count, 2u);
  EXPECT_EQ(whole.own_validation.size(), 2u);
}

TEST(known_scores, answer_what_was_asked_before) {
  site x;
  const auto first = x.scored(x.asked);
  EXPECT_EQ(x.seen.test, 6u);
  EXPECT_EQ(x.seen.aside, 5u);
  const auto again = x.scored(x.asked);
  EXPECT_EQ(x.seen.test + x.seen.aside, 0u);
  expect_same(first, again);
  auto without = x.asked;
  without.aside = false;
  x.scored(without);
  EXPECT_EQ(x.seen.test + x.seen.aside, 0u);
}

TEST(known_scores, leave_what_was_set_aside_to_be_scored) {
  site x;
  auto without = x.asked;
  without.aside = false;
  x.scored(without);
  const auto then = x.scored(x.asked);
  EXPECT_EQ(x.seen.test, 0u);
  EXPECT_EQ(x.seen.aside, 5u);
  expect_same(then, site{}.scored(x.asked));
  x.scored(x.asked);
  EXPECT_EQ(x.seen.aside, 0u);
}

// As of a method whose clients have nothing of their own, at a run's end.
TEST(known_scores, of_the_versions_alone_leave_clients_to_be_scored) {
  site x;
  auto shared = x.asked;
  shared.per_client = false;
  shared.states.clear();
  x.scored(shared);
  EXPECT_EQ(x.seen.test, 3u);
  EXPECT_EQ(x.seen.aside, 2u);
  const auto then = x.scored(x.asked);
  EXPECT_EQ(x.seen.test, 3u);
  EXPECT_EQ(x.seen.aside, 3u);
  expect_same(then, site{}.scored(x.asked));
}

TEST(known_scores, are_of_the_same_versions_and_states) {
  site x;
  x.scored(x.asked);
  auto learned = x.asked;
  learned.states[{2}] = std::make_shared<const client_state>();
  x.scored(learned);
  EXPECT_EQ(x.seen.test, 3u) << "a client has moved on";
  auto came = learned;
  came.states[{3}] = std::make_shared<const client_state>();
  x.scored(came);
  EXPECT_EQ(x.seen.test, 3u) << "a client has a state now";
  auto newer = came;
  for (auto& block : newer.versions)
    block.values = share(block.values.copy());
  x.scored(newer);
  EXPECT_EQ(x.seen.test, 6u) << "who knows what is in there?";
}

TEST(known_scores, keep_neither_versions_nor_states) {
  known_scores known;
  evaluation_input x{.versions = {{{1}, {7}, share({1, 2, 3})}},
                     .per_client = true,
                     .states = {}};
  x.states[{1}] = std::make_shared<const client_state>();
  const std::weak_ptr<const void> values = x.versions.front().values.owner();
  const std::weak_ptr<const client_state> state = x.states.at({1});
  known.keep(x, {});
  known.add_to(x);
  EXPECT_TRUE(x.known && x.clients_are_known);
  x = {};
  EXPECT_TRUE(values.expired());
  EXPECT_TRUE(state.expired());
}

} // namespace troupe::test::known_scores_test
