// The other personal methods by hand: one client, f(w) = (w - 3)^2 / 2, one
// step of 0.1.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/site_by_hand.hpp"

namespace troupe::test::personal_methods_test {

namespace {

std::shared_ptr<const models::client_state> keeping(const std::string& name,
                                                    std::vector<float> values) {
  models::client_state x;
  x.blocks[name] = personal_values{std::move(values)};
  return std::make_shared<const models::client_state>(x);
}

double kept(const models::trained& x, const std::string& name) {
  return static_cast<double>(x.next.blocks.at(name).own_view().front());
}

double home_loss(const site_by_hand& site, const models::visit_input& x,
                 std::shared_ptr<const models::client_state> state = {}) {
  models::evaluation_input in{
    .versions = x.fetched, .per_client = true, .states = {}};
  if (state)
    in.states[{1}] = std::move(state);
  const auto found = site.trainer->evaluate(in);
  EXPECT_TRUE(found) << found.error().context;
  return found ? found->per_client.at({1}).mean_loss() : 0;
}

} // namespace

// Outputs 0 and 2 at half shares say 1: the slope is -2, each model has half of
// it, and the slopes along the shares are 0 and -4.
TEST(ensemble, makes_one_joint_step) {
  const site_by_hand site{"ensemble"};
  const auto visit = site.visit({0, 2});
  const auto out = site.trainer->train(visit);
  ASSERT_TRUE(out) << out.error().context;
  EXPECT_NEAR(out->loss, 2, 1e-6);
  EXPECT_NEAR(delta_of(*out, 1), 0.1, 1e-6);
  EXPECT_NEAR(delta_of(*out, 2), 0.1, 1e-6);
  EXPECT_NEAR(kept(*out, "mixture"), -0.1, 1e-6);
  EXPECT_NEAR(out->disclosures.at("pi")[1], 0.549834, 1e-6);
  EXPECT_NEAR(out->parts[1].weight, 10 * 0.549834, 1e-5);
  EXPECT_EQ(out->steps, 2u) << "a pass for each model";
  EXPECT_NEAR(home_loss(site, visit), 2, 1e-6);
  EXPECT_NEAR(home_loss(site, visit, keeping("mixture", {-50, 50})), 0.5, 1e-6);
}

TEST(ensemble_optimal, trains_the_model_of_its_own_cluster_as_alone) {
  const site_by_hand site{"ensemble_optimal"};
  const auto out = site.trainer->train(site.visit({1, 2}));
  ASSERT_TRUE(out) << out.error().context;
  ASSERT_EQ(out->parts.size(), 1u);
  EXPECT_NEAR(delta_of(*out, 1), 0.2, 1e-6);
  EXPECT_DOUBLE_EQ(out->parts[0].weight, 10);
  EXPECT_TRUE(out->next.blocks.empty());
}

// Losses 4.5 and 0.5: q = exp(-4.5), exp(-0.5), made to one.
TEST(fedem, divides_each_example_between_the_models) {
  const site_by_hand site{"fedem"};
  const auto visit = site.visit({0, 2});
  const auto out = site.trainer->train(visit);
  ASSERT_TRUE(out) << out.error().context;
  const auto mine = 1 / (1 + std::exp(-4.0));
  EXPECT_NEAR(delta_of(*out, 1), 0.3 * (1 - mine), 1e-6);
  EXPECT_NEAR(delta_of(*out, 2), 0.1 * mine, 1e-6);
  EXPECT_NEAR(std::exp(kept(*out, "mixture")), 1 - mine, 1e-6);
  EXPECT_DOUBLE_EQ(out->parts[0].weight, 10) << "by n alone";
  // From pi = (3/4, 1/4) the first has three times as much.
  auto again = visit;
  again.state = keeping("mixture", {std::log(3.f), 0});
  const auto next = site.trainer->train(again);
  ASSERT_TRUE(next);
  EXPECT_NEAR(delta_of(*next, 2), 0.1 / (1 + 3 * std::exp(-4.0)), 1e-6);
}

// theta: 1, 1.02, 1.0368; then w moves by 0.1 * 15 of the way to it.
TEST(pfedme, moves_the_shared_model_to_the_regularised_one) {
  const site_by_hand site{"pfedme", {{"inner_steps", 2}}};
  const auto visit = site.visit({1});
  const auto out = site.trainer->train(visit);
  ASSERT_TRUE(out) << out.error().context;
  EXPECT_NEAR(kept(*out, "own_model"), 1.0368, 1e-6);
  EXPECT_NEAR(delta_of(*out, 1), 1.5 * 0.0368, 1e-6);
  EXPECT_EQ(out->steps, 2u);
  EXPECT_NEAR(home_loss(site, visit, keeping("own_model", {2})), 0.5, 1e-6);
  // It goes on from where it was, not from the shared model.
  auto again = visit;
  again.state = keeping("own_model", {2});
  const auto next = site.trainer->train(again);
  ASSERT_TRUE(next);
  const auto first = 2 - 0.01 * (-1 + 15 * (2 - 1));
  EXPECT_NEAR(kept(*next, "own_model"),
              first - 0.01 * (first - 3 + 15 * (first - 1)), 1e-5);
}

// The inner step goes from 1 to 1.02; the slope there is -1.98.
TEST(per_fedavg, learns_where_a_step_ends_well) {
  const site_by_hand first_order{"per_fedavg"};
  const auto visit = first_order.visit({1});
  const auto out = first_order.trainer->train(visit);
  ASSERT_TRUE(out) << out.error().context;
  EXPECT_NEAR(delta_of(*out, 1), 0.198, 1e-6);
  EXPECT_EQ(first_order.passes, 2);
  // Times 1 - 0.01 * 1 with the curvature.
  const site_by_hand second_order{"per_fedavg", {{"difference", 0.1}}};
  const auto exact = second_order.trainer->train(visit);
  ASSERT_TRUE(exact) << exact.error().context;
  EXPECT_NEAR(delta_of(*exact, 1), 0.198 * 0.99, 1e-5);
  EXPECT_EQ(second_order.passes, 4);
  // A client uses the model after a step: 1.02.
  EXPECT_NEAR(home_loss(first_order, visit), 1.98 * 1.98 / 2, 1e-5);
}

// Coordinates do not see each other: two steps of the head, one of the body.
TEST(fedrep, sends_the_body_and_keeps_the_head) {
  const site_by_hand site{"fedrep", {{"head_passes", 2}}, 2};
  auto visit = site.visit({1});
  visit.state = keeping("head", {2});
  const auto out = site.trainer->train(visit);
  ASSERT_TRUE(out) << out.error().context;
  ASSERT_EQ(out->parts.size(), 1u);
  ASSERT_EQ(out->parts[0].delta->size(), 1u) << "half of the model";
  EXPECT_NEAR(delta_of(*out, 1), 0.2, 1e-6);
  EXPECT_NEAR(kept(*out, "head"), 3 - 0.81, 1e-6);
  EXPECT_EQ(out->steps, 3u);
  EXPECT_NEAR(home_loss(site, visit, visit.state), (4 + 1) / 2.0, 1e-6);
}

TEST(fedper, trains_both_parts_together) {
  const site_by_hand site{"fedper", {}, 2};
  auto visit = site.visit({1});
  visit.state = keeping("head", {2});
  const auto out = site.trainer->train(visit);
  ASSERT_TRUE(out) << out.error().context;
  EXPECT_NEAR(delta_of(*out, 1), 0.2, 1e-6);
  EXPECT_NEAR(kept(*out, "head"), 2.1, 1e-6);
  EXPECT_EQ(site.passes, 1);
}

// A personal block of another model or another C.
TEST(personal_methods, refuse_what_a_client_of_another_model_kept) {
  for (const auto& [name, block] :
       {std::pair{"floral", "mixture"},
        std::pair{"local_adaptor", "own_adapter"},
        std::pair{"ensemble", "mixture"}, std::pair{"fedem", "mixture"},
        std::pair{"pfedme", "own_model"}, std::pair{"fedper", "head"}}) {
    const site_by_hand site{name, {}, 2};
    auto visit = site.visit(std::vector<float>(site.blocks.blocks.size(), 1));
    visit.state = keeping(block, {1, 2, 3, 4, 5});
    const auto out = site.trainer->train(visit);
    ASSERT_FALSE(out) << name;
    EXPECT_EQ(out.error().code, errc::invalid_argument) << name;
    EXPECT_NE(out.error().context.find("the client keeps 5 values of '"),
              std::string::npos)
      << out.error().context;
  }
}

} // namespace troupe::test::personal_methods_test
