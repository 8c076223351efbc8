// A model of a file is looked at before anybody learns from it.

#include "node/run/first_look.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

namespace troupe::test::first_look_test {

namespace {

constexpr auto no_number = std::numeric_limits<double>::quiet_NaN();

/// Finds this, whatever it is asked.
class sure_trainer final : public models::one_by_one_trainer {
public:
  explicit sure_trainer(models::evaluated found) : found_(std::move(found)) {
    // nop
  }

  result<models::choice> choose(const models::visit_input&) override {
    return models::choice{};
  }

  result<models::trained> train_one(const models::visit_input&) override {
    return models::trained{};
  }

  result<models::evaluated> evaluate(const models::evaluation_input&) override {
    return found_;
  }

  std::uint64_t examples(client_id) const override {
    return 1;
  }

  std::uint64_t steps(const models::visit_input&) const override {
    return 1;
  }

private:
  models::evaluated found_;
};

models::evaluated of_loss(double x, std::uint64_t count = 2) {
  models::evaluated out;
  out.global = {.loss = x, .correct = 0, .count = count};
  return out;
}

models::evaluation_input at(version head) {
  models::evaluation_input out;
  out.versions.push_back({{1}, head, share({1, 2})});
  return out;
}

struct first_look : ::testing::Test {
  first_look() {
    x.init = "weights";
  }

  std::unique_ptr<models::trainer> over(models::evaluated found) const {
    return node::looking_first(std::make_unique<sure_trainer>(std::move(found)),
                               x);
  }

  std::string refusal(const models::evaluated& found) const {
    const auto out = over(found)->evaluate(at({0}));
    return out ? "" : out.error().context;
  }

  node::experiment x;
};

} // namespace

TEST_F(first_look, refuses_weights_whose_loss_is_no_number) {
  EXPECT_EQ(
    refusal(of_loss(no_number)),
    "weights: the loss before anything is learned is no number; weights "
    "of a model that has not diverged would do");
  x.model.path = "base.gguf";
  EXPECT_EQ(refusal(of_loss(std::numeric_limits<double>::infinity())),
            "base.gguf: the loss before anything is learned is beyond all "
            "numbers; weights of a model that has not diverged would do");
  models::evaluated found = of_loss(1);
  found.per_client[{2}] = {.loss = no_number, .correct = 0, .count = 1};
  EXPECT_NE(refusal(found), "");
}

TEST_F(first_look, takes_a_loss_of_nothing_and_weights_of_no_file) {
  EXPECT_EQ(refusal(of_loss(1)), "");
  EXPECT_EQ(refusal(of_loss(no_number, 0)), "") << "nothing is scored";
  x.init.clear();
  EXPECT_EQ(refusal(of_loss(no_number)), "");
}

// What diverged on the way is not the file's.
TEST_F(first_look, is_of_what_nobody_has_learned) {
  EXPECT_TRUE(over(of_loss(no_number))->evaluate(at({1})));
  auto asked = at({0});
  models::client_state learned;
  learned.visits = 1;
  asked.states[{1}] = std::make_shared<const models::client_state>(learned);
  EXPECT_TRUE(over(of_loss(no_number))->evaluate(asked));
  const auto again = over(of_loss(no_number));
  EXPECT_FALSE(again->evaluate(at({0})));
  EXPECT_TRUE(again->evaluate(at({0}))) << "the run is at its end";
}

} // namespace troupe::test::first_look_test
