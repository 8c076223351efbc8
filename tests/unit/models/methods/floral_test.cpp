// FLoRAL: one joint step by hand, the published vectors, and what must not
// happen.

#include <gtest/gtest.h>

#include <cmath>

#include "models/local_trainer.hpp"
#include "models/methods/router.hpp"
#include "models/tasks/quadratic.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/reference_loop.hpp"
#include "tests/support/site_by_hand.hpp"

namespace troupe::test {

namespace {} // namespace

// Specification, 2.8 #2. An implementation that alternates has other numbers.
TEST(floral, makes_the_published_joint_step) {
  const site_by_hand site{"floral"};
  const auto out = site.trainer->train(site.visit({0, 0, 2}));
  ASSERT_TRUE(out) << out.error().context;
  EXPECT_NEAR(delta_of(*out, 1), 0.2, 1e-6);
  EXPECT_NEAR(delta_of(*out, 2), 0.1, 1e-6);
  EXPECT_NEAR(delta_of(*out, 3), 0.1, 1e-6);
  const auto logits = out->next.blocks.at("mixture").own_view();
  EXPECT_NEAR(logits[0], -0.1, 1e-6);
  EXPECT_NEAR(logits[1], 0.1, 1e-6);
  const auto& pi = out->disclosures.at("pi");
  EXPECT_NEAR(pi[0], 0.450166, 1e-6);
  EXPECT_NEAR(pi[1], 0.549834, 1e-6);
  // The weights are those after training.
  EXPECT_DOUBLE_EQ(out->parts[0].weight, 10);
  EXPECT_NEAR(out->parts[1].weight, 10 * 0.450166, 1e-5);
  EXPECT_NEAR(out->parts[2].weight, 10 * 0.549834, 1e-5);
  EXPECT_EQ(site.passes, 1) << "one pass, however many adapters";
}

TEST(floral, goes_on_with_the_router_that_the_client_kept) {
  const site_by_hand site{"floral"};
  auto x = site.visit({0, 0, 2});
  models::client_state kept;
  kept.blocks["mixture"] = personal_values{{0, std::log(3.f)}};
  x.state = std::make_shared<const models::client_state>(kept);
  // pi = (1/4, 3/4): the model is 1.5, the gradient -1.5; the slope along a
  // logit is share (slope - mean): (1/4)(0 + 2.25), (3/4)(-3 + 2.25).
  const auto out = site.trainer->train(x);
  ASSERT_TRUE(out);
  EXPECT_NEAR(delta_of(*out, 1), 0.15, 1e-6);
  EXPECT_NEAR(delta_of(*out, 2), 0.0375, 1e-6);
  EXPECT_NEAR(delta_of(*out, 3), 0.1125, 1e-6);
  EXPECT_NEAR(out->next.blocks.at("mixture").own_view()[0], -0.05625, 1e-6);
}

TEST(floral, has_a_router_that_stands_still_where_adapters_are_equal) {
  const site_by_hand site{"floral"};
  const auto out = site.trainer->train(site.visit({0, 1, 1}));
  ASSERT_TRUE(out);
  EXPECT_EQ(out->next.blocks.at("mixture").own_view()[0], 0);
  EXPECT_EQ(delta_of(*out, 2), delta_of(*out, 3));
}

TEST(floral, gives_router_and_adapters_rates_of_their_own) {
  const site_by_hand site{"floral",
                          {{"router_rate", 0.3}, {"adapter_rate", 0.05}}};
  const auto out = site.trainer->train(site.visit({0, 0, 2}));
  ASSERT_TRUE(out);
  EXPECT_NEAR(delta_of(*out, 1), 0.2, 1e-6);
  EXPECT_NEAR(delta_of(*out, 2), 0.05, 1e-6);
  EXPECT_NEAR(out->next.blocks.at("mixture").own_view()[1], 0.3, 1e-6);
}

TEST(floral, lets_the_router_learn_alone_before_all_else) {
  const site_by_hand site{"floral", {{"warm_passes", 1}}};
  const auto visit = site.visit({0, 0, 2});
  const auto out = site.trainer->train(visit);
  ASSERT_TRUE(out) << out.error().context;
  // First pi = (0.450166, 0.549834), as after the joint step; then the model is
  // 1.099668, and the slopes along the shares are 0 and -3.800664.
  EXPECT_NEAR(delta_of(*out, 1), 0.1900332, 1e-6);
  EXPECT_NEAR(delta_of(*out, 2), 0.0855465, 1e-6);
  EXPECT_NEAR(out->next.blocks.at("mixture").own_view()[0], -0.1940727, 1e-6);
  EXPECT_NEAR(out->loss, 1.900332 * 1.900332 / 2, 1e-5);
  EXPECT_EQ(site.passes, 2);
  EXPECT_EQ(out->steps, 2u);
  EXPECT_EQ(site.trainer->steps(visit), 2u);
}

TEST(floral, lets_no_adapter_count_with_less_than_the_floor) {
  const site_by_hand site{"floral", {{"share_floor", 0.3}}};
  auto x = site.visit({0, 1, 2});
  auto kept = std::make_shared<models::client_state>();
  kept->blocks["mixture"] = personal_values{{0, std::log(3.f)}};
  x.state = kept;
  // pi = (1/4, 3/4) counts as (0.3, 0.75): the model is 1.8, the gradient -1.2.
  // The first share has no slope, the second one has -2.4; their mean is -1.8.
  const auto out = site.trainer->train(x);
  ASSERT_TRUE(out) << out.error().context;
  EXPECT_NEAR(delta_of(*out, 1), 0.12, 1e-6);
  EXPECT_NEAR(delta_of(*out, 2), 0.036, 1e-6);
  EXPECT_NEAR(delta_of(*out, 3), 0.09, 1e-6);
  EXPECT_NEAR(out->next.blocks.at("mixture").own_view()[0], -0.045, 1e-6);
  // What an offer weighs is the share itself.
  EXPECT_NEAR(out->parts[1].weight, 10 * out->disclosures.at("pi")[0], 1e-9);
  EXPECT_LT(out->parts[1].weight, 2.5);
  const auto scored = site.trainer->evaluate(
    {.versions = x.fetched, .per_client = true, .states = {{{1}, kept}}});
  ASSERT_TRUE(scored);
  EXPECT_NEAR(scored->per_client.at({1}).mean_loss(), 0.72, 1e-6);
}

// The same model, so the same slopes: what is offered is moved by the mean of
// what was fetched.
TEST(floral, trains_what_it_centred) {
  const site_by_hand site{"floral", {{"centred", 1}}};
  const auto out = site.trainer->train(site.visit({5, 4, 6}));
  ASSERT_TRUE(out) << out.error().context;
  // From 10 and (-1, +1), with a gradient of 7.
  EXPECT_NEAR(delta_of(*out, 1), 5 - 0.7, 1e-5);
  EXPECT_NEAR(delta_of(*out, 2), -5 - 0.35, 1e-5);
  EXPECT_NEAR(delta_of(*out, 3), -5 - 0.35, 1e-5);
  EXPECT_NEAR(out->next.blocks.at("mixture").own_view()[0], 0.35, 1e-5);
}

TEST(floral, tells_a_router_that_it_does_not_keep) {
  const site_by_hand site{
    "floral", {{"stateless", 1}, {"warm_passes", 1}, {"warm_rate", 0.5}}};
  const auto visit = site.visit({0, 0, 2});
  const auto out = site.trainer->train(visit);
  ASSERT_TRUE(out) << out.error().context;
  EXPECT_TRUE(out->next.blocks.empty());
  const auto& pi = out->disclosures.at("pi");
  EXPECT_GT(pi[1], 1 / (1 + std::exp(-1))) << "both of its steps count";
  // At home it learns one anew: logits of -0.5 and 0.5, a model of 1.462117.
  const auto found = site.trainer->evaluate(
    {.versions = visit.fetched, .per_client = true, .states = {}});
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_NEAR(found->per_client.at({1}).mean_loss(), 1.182542, 1e-5);
  EXPECT_NEAR(found->method_results.at("router_entropy"), 0.582203, 1e-5);
}

TEST(floral, asks_a_client_that_keeps_a_router_for_no_other) {
  const site_by_hand site{"floral", {{"warm_passes", 5}}};
  const auto visit = site.visit({0, 0, 2});
  auto kept = std::make_shared<models::client_state>();
  kept->blocks["mixture"] = personal_values{{50, -50}};
  const auto found = site.trainer->evaluate(
    {.versions = visit.fetched, .per_client = true, .states = {{{1}, kept}}});
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_NEAR(found->per_client.at({1}).mean_loss(), 4.5, 1e-6);
  EXPECT_EQ(site.passes, 0);
}

TEST(floral_optimal, trains_the_adapter_of_its_own_cluster_alone) {
  const site_by_hand site{"floral_optimal"};
  const auto out = site.trainer->train(site.visit({0, 0, 2}));
  ASSERT_TRUE(out) << out.error().context;
  ASSERT_EQ(out->parts.size(), 2u);
  EXPECT_NEAR(delta_of(*out, 1), 0.3, 1e-6);
  EXPECT_NEAR(delta_of(*out, 2), 0.3, 1e-6);
  EXPECT_DOUBLE_EQ(out->parts[1].weight, 10);
  EXPECT_TRUE(out->next.blocks.empty());
}

TEST(floral, is_scored_with_the_mixture_of_each_client) {
  const site_by_hand site{"floral"};
  const auto visit = site.visit({0, 0, 2});
  auto kept = std::make_shared<models::client_state>();
  kept->blocks["mixture"] = personal_values{{-50, 50}};
  const auto found = site.trainer->evaluate(
    {.versions = visit.fetched, .per_client = true, .states = {{{1}, kept}}});
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_NEAR(found->per_client.at({1}).mean_loss(), 0.5, 1e-6); // (2 - 3)^2/2
  EXPECT_NEAR(found->method_results.at("router_entropy"), 0, 1e-6);
}

namespace {

/// Offers what it is told to, whoever is trained.
class prepared_trainer final : public models::one_by_one_trainer {
public:
  struct offer {
    double examples;
    std::vector<double> pi;
    std::vector<float> deltas;
  };

  prepared_trainer(const models::layout& blocks, std::vector<offer> offers)
    : blocks_(blocks),
      offers_(std::move(offers)) {
    // nop
  }

  result<models::choice> choose(const models::visit_input&) override {
    return models::choice{};
  }

  result<models::trained> train_one(const models::visit_input& x) override {
    const auto& mine = offers_[x.visit.client.value - 1];
    models::trained out;
    for (const auto& block : blocks_.blocks) {
      const bool base = block.family == "model";
      out.parts.push_back(
        {.block = block.id,
         .weight = mine.examples * (base ? 1 : mine.pi[block.instance]),
         .delta = share(std::vector{mine.deltas[out.parts.size()]})});
    }
    return out;
  }

  result<models::evaluated> evaluate(const models::evaluation_input&) override {
    return models::evaluated{};
  }

  std::uint64_t examples(client_id) const override {
    return 1;
  }

  std::uint64_t steps(const models::visit_input&) const override {
    return 1;
  }

private:
  const models::layout& blocks_;
  std::vector<offer> offers_;
};

} // namespace

// Specification, 2.8 #1.
TEST(floral, is_merged_as_published) {
  const site_by_hand site{"floral"};
  prepared_trainer trainer{site.blocks,
                           {{10, {0.9, 0.1}, {6, 1, 10}},
                            {20, {0.5, 0.5}, {12, 2, 20}},
                            {30, {0.2, 0.8}, {18, 3, 30}}}};
  auto blocks = site.blocks;
  for (auto& x : blocks.blocks)
    x.grid = kernels::grid_for(30, 32);
  reference_options how{.method = site.method, .blocks = blocks, .initial = {}};
  for (const auto& x : blocks.blocks)
    how.initial[x.name] = share(std::vector{0.f});
  reference_loop loop{trainer, how};
  const invited cohort[] = {{{1}}, {{2}}, {{3}}};
  ASSERT_TRUE(loop.round(cohort));
  EXPECT_NEAR(loop.values("model")[0], 14, 1e-5);
  EXPECT_NEAR(loop.values("adapter.0")[0], 1.88, 1e-5);
  EXPECT_NEAR(loop.values("adapter.1")[0], 930.0 / 35, 1e-4);
}

TEST(router, has_slopes_that_add_up_to_zero) {
  const std::vector<double> logits{0.3, -1, 2};
  const auto shares = models::softmax(logits);
  const std::vector<double> slopes{1, -4, 0.5};
  const auto found = models::logit_slopes(shares, slopes);
  EXPECT_NEAR(found[0] + found[1] + found[2], 0, 1e-12);
  // Along a logit, by differences.
  const auto value = [&](std::vector<double> at) {
    const auto pi = models::softmax(at);
    return pi[0] * slopes[0] + pi[1] * slopes[1] + pi[2] * slopes[2];
  };
  for (std::size_t c = 0; c < 3; ++c) {
    auto above = logits, below = logits;
    above[c] += 1e-5;
    below[c] -= 1e-5;
    EXPECT_NEAR((value(above) - value(below)) / 2e-5, found[c], 1e-8);
  }
}

// Specification, 2.8 #3.
TEST(router, is_as_far_from_its_groups_as_published) {
  for (const std::size_t groups : {2, 4, 10}) {
    models::shares_by_client undecided, decided, wrong;
    for (std::uint64_t k = 1; k <= 20; ++k) {
      undecided[{k}].assign(groups, 1.0 / static_cast<double>(groups));
      decided[{k}].assign(groups, 0);
      decided[{k}][(k + 2) % groups] = 1; // Another order of the same.
      wrong[{k}].assign(groups, 0);
      wrong[{k}][0] = 1;
    }
    EXPECT_NEAR(models::mismatch_with_groups(undecided, groups),
                2 * (1 - 1 / static_cast<double>(groups)), 1e-12);
    EXPECT_NEAR(models::mismatch_with_groups(decided, groups), 0, 1e-12);
    EXPECT_TRUE(models::recovers_groups(decided, groups));
    EXPECT_FALSE(models::recovers_groups(wrong, groups));
  }
}

} // namespace troupe::test
