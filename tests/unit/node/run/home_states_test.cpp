// Clients are scored with what their files hold, and once where nothing is
// another thing than it was.

#include "node/run/home_states.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace troupe::test::home_states_test {

namespace {

/// Finds the same each time, and says what it was asked.
class asked_trainer final : public models::one_by_one_trainer {
public:
  explicit asked_trainer(std::vector<models::evaluation_input>& to) : to_(to) {
    // nop
  }

  result<models::choice> choose(const models::visit_input&) override {
    return models::choice{};
  }

  result<models::trained> train_one(const models::visit_input&) override {
    return models::trained{};
  }

  result<models::evaluated>
  evaluate(const models::evaluation_input& x) override {
    to_.push_back(x);
    if (fails)
      return fail(errc::device_failure, "planted");
    models::evaluated out;
    out.global = {.loss = 3, .correct = 1, .count = 2};
    return out;
  }

  std::uint64_t examples(client_id) const override {
    return 1;
  }

  std::uint64_t steps(const models::visit_input&) const override {
    return 1;
  }

  bool fails = false;

private:
  std::vector<models::evaluation_input>& to_;
};

struct scene {
  scene() {
    auto made = std::make_unique<asked_trainer>(asked);
    behind = made.get();
    testee = std::make_unique<node::home_states>(std::move(made), files);
    question.versions.push_back({{1}, {4}, share({1, 2})});
    question.per_client = true;
    learn();
  }

  /// Client 1 has a state that it did not have.
  void learn() {
    actors::client_file file;
    file.state = std::make_shared<const models::client_state>();
    files->save({1}, file);
  }

  std::vector<models::evaluation_input> asked;
  asked_trainer* behind = nullptr;
  std::shared_ptr<actors::memory_vault> files =
    std::make_shared<actors::memory_vault>();
  std::unique_ptr<node::home_states> testee;
  models::evaluation_input question;
};

} // namespace

TEST(home_states, score_once_what_is_as_it_was) {
  scene x;
  ASSERT_TRUE(x.testee->evaluate(x.question));
  const auto again = x.testee->evaluate(x.question);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->global.count, 2u);
  ASSERT_EQ(x.asked.size(), 1u);
  EXPECT_EQ(x.asked[0].states.size(), 1u);
  EXPECT_FALSE(x.asked[0].known);
}

TEST(home_states, score_again_who_has_learned_since) {
  scene x;
  ASSERT_TRUE(x.testee->evaluate(x.question));
  x.learn();
  ASSERT_TRUE(x.testee->evaluate(x.question));
  ASSERT_EQ(x.asked.size(), 2u);
  EXPECT_TRUE(x.asked[1].known) << "the versions are the same";
  EXPECT_FALSE(x.asked[1].clients_are_known);
}

TEST(home_states, score_again_what_could_not_be) {
  scene x;
  x.behind->fails = true;
  EXPECT_FALSE(x.testee->evaluate(x.question));
  x.behind->fails = false;
  ASSERT_TRUE(x.testee->evaluate(x.question));
  ASSERT_EQ(x.asked.size(), 2u);
  EXPECT_FALSE(x.asked[1].known);
}

TEST(home_states, know_nobody_where_files_are_elsewhere) {
  scene x;
  node::home_states testee{std::make_unique<asked_trainer>(x.asked), nullptr};
  ASSERT_TRUE(testee.evaluate(x.question));
  ASSERT_TRUE(testee.evaluate(x.question));
  ASSERT_EQ(x.asked.size(), 1u);
  EXPECT_FALSE(x.asked[0].per_client);
}

} // namespace troupe::test::home_states_test
