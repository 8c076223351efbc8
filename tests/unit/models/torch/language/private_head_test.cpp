// A layer that says what a row is, where each client has its own: under PF2LoRA
// it is learned as the client's own adapter is, under its baselines as the
// common one, and it stays.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/inner_adapters.hpp"
#include "models/inner_setup.hpp"
#include "tests/support/adapter_site.hpp"
#include "tests/support/labelled_scene.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::test::private_head_test {

namespace {

using models::floats;

constexpr double inner_rate = 0.25;
const std::vector<std::uint32_t> rows{0, 1, 2};

std::unique_ptr<models::objective> classifier() {
  return test::labelled_model(test::tiny_bert, {models::head_kind::classes, 3},
                              test::classified_rows(), {.trained = false});
}

/// PF2LoRA over it, whose clients have heads of their own.
struct headed_case {
  options said{
    {"rank", 2}, {"own_rank", 1}, {"head", 1}, {"inner_rate", inner_rate}};
  models::inner_plans plans = **models::inner_plans_for(
    *policies::find_recipe("pf2lora"), *classifier(), said, {});
  floats common = values(*plans.adapter, 1);
  floats own = values(*plans.own_adapter, 2);

  static floats values(const models::adapter_plan& of, std::uint64_t seed) {
    auto drawn = models::draw(of.size(), seed);
    for (auto& x : drawn)
      x *= 0.2f;
    return drawn;
  }

  adapter_site site() const {
    models::training_options how;
    how.local_steps = 1;
    how.batch_size = 0;
    how.learning_rate = 0.05;
    return adapter_site{{.method = "pf2lora",
                         .how = how,
                         .said = said,
                         .model = classifier(),
                         .clients = {.train = {rows}, .test = {rows}},
                         .common = plans.adapter,
                         .own = plans.own_adapter}};
  }

  /// F_y at both, by hand.
  floats slopes_of_own() const {
    const auto model = classifier();
    auto& inside = *model->inside();
    const auto done =
      inside.attach({{.name = "adapter", .plan = *plans.adapter},
                     {.name = "own_adapter", .plan = *plans.own_adapter}},
                    nullptr);
    EXPECT_TRUE(done) << done.error().context;
    std::ranges::copy(common, inside.values_of(0).begin());
    std::ranges::copy(own, inside.values_of(1).begin());
    EXPECT_TRUE(model->backward(rows, 1));
    const auto slopes = inside.gradient_of(1);
    return {slopes.begin(), slopes.end()};
  }
};

} // namespace

TEST(private_head, moves_by_plain_descent_with_the_adapter_of_its_client) {
  const headed_case c;
  const auto site = c.site();
  const auto out = site.trainer->train(site.visit(c.common, keeping(c.own)));
  ASSERT_TRUE(out) << out.error().context;
  const auto kept = out->next.blocks.at("own_adapter").own_view();
  const auto slopes = c.slopes_of_own();
  ASSERT_EQ(kept.size(), slopes.size());
  const auto head = c.plans.own_adapter->vectors.front().in_adapter;
  EXPECT_GT(test::largest_of(std::span{slopes}.subspan(head)), 1e-3);
  for (std::size_t j = 0; j < kept.size(); ++j)
    EXPECT_NEAR(kept[j], c.own[j] - static_cast<float>(inner_rate) * slopes[j],
                1e-5)
      << j;
  // What travels has none.
  ASSERT_EQ(out->parts.size(), 1u);
  EXPECT_EQ(out->parts[0].delta->size(), c.plans.adapter->size());
  EXPECT_TRUE(c.plans.adapter->vectors.empty());
}

TEST(private_head, is_what_its_client_is_scored_with) {
  const headed_case c;
  const auto site = c.site();
  const auto loss_of = [&](const floats& own) {
    const auto found =
      site.trainer->evaluate({.versions = site.visit(c.common).fetched,
                              .per_client = true,
                              .states = {{{1}, keeping(own)}}});
    EXPECT_TRUE(found) << found.error().context;
    return found ? found->per_client.at({1}).mean_loss() : 0;
  };
  auto other = c.own;
  other[c.plans.own_adapter->vectors.front().in_adapter] += 1;
  EXPECT_NE(loss_of(other), loss_of(c.own));
}

namespace {

/// One step of a baseline, whose adapter begins with these values and whose
/// heads with none.
struct baseline_step {
  std::string method;
  models::optimiser_kind by = models::optimiser_kind::sgd;

  adapter_site site(const options& more, models::inner_plans& plans) const {
    options said{{"rank", 2}, {"rank_min", 2}, {"penalty", 0}};
    said.insert(more.begin(), more.end());
    plans = **models::inner_plans_for(*policies::find_recipe(method),
                                      *classifier(), said, {});
    models::training_options how;
    how.local_steps = 1;
    how.batch_size = 0;
    how.learning_rate = 0.05;
    how.optimiser = by;
    return adapter_site{{.method = method,
                         .how = how,
                         .said = said,
                         .model = classifier(),
                         .clients = {.train = {rows}, .test = {rows}},
                         .common = plans.adapter,
                         .own = plans.own_adapter,
                         .attention = plans.attention}};
  }
};

} // namespace

// The same step moves the same head, whoever has it.
TEST(private_head, of_baselines_moves_as_a_shared_one_and_is_not_offered) {
  for (const std::string method : {"homlora", "hetlora"}) {
    SCOPED_TRACE(method);
    models::inner_plans shared, apart;
    const baseline_step c{method};
    const auto all = c.site({}, shared);
    const auto own = c.site({{"head", 1}}, apart);
    const auto factors = apart.adapter->size();
    const auto head = apart.own_adapter->size();
    ASSERT_EQ(shared.adapter->size(), factors + head);
    ASSERT_FALSE(shared.own_adapter);
    EXPECT_TRUE(apart.own_adapter->matrices.empty());
    auto common = headed_case::values(*apart.adapter, 1);
    const auto split = own.trainer->train(own.visit(common));
    common.resize(factors + head);
    const auto together = all.trainer->train(all.visit(common));
    ASSERT_TRUE(together) << together.error().context;
    ASSERT_TRUE(split) << split.error().context;
    const auto& whole = *together->parts.at(0).delta;
    const auto& offered = *split->parts.at(0).delta;
    const auto kept = split->next.blocks.at("own_adapter").own_view();
    ASSERT_EQ(offered.size(), factors);
    ASSERT_EQ(kept.size(), head);
    for (std::size_t j = 0; j < factors; ++j)
      EXPECT_NEAR(offered[j], whole[j], 1e-6) << j;
    for (std::size_t j = 0; j < head; ++j)
      EXPECT_NEAR(kept[j], whole[factors + j], 1e-6) << j;
    EXPECT_GT(test::largest_of(kept), 1e-3);
  }
}

// Three of them learn from one gradient: who has the head is nothing to what is
// apart beside attention.
TEST(private_head, of_hetlora_is_learned_beside_plain_attention) {
  const baseline_step c{"hetlora"};
  const auto trained = [&](double head) {
    models::inner_plans plans;
    const auto site =
      c.site({{"head", head}, {"adapted", 1}, {"plain_attention", 1}}, plans);
    auto common = headed_case::values(*plans.adapter, 1);
    if (head == 0) // It begins as one of its own does.
      std::ranges::fill(
        std::span{common}.subspan(plans.adapter->vectors.front().in_adapter),
        0);
    auto at = site.visit(common);
    at.fetched.push_back({site.blocks.blocks.at(1).id,
                          {0},
                          share(headed_case::values(*plans.attention, 2))});
    auto out = site.trainer->train(at);
    EXPECT_TRUE(out) << out.error().context;
    return out ? *out : models::trained{};
  };
  const auto shared = trained(0), own = trained(1);
  ASSERT_EQ(shared.parts.size(), 2u);
  ASSERT_EQ(own.parts.size(), 2u);
  EXPECT_NEAR(own.loss, shared.loss, 1e-6);
  const auto& attention = *own.parts[1].delta;
  const auto& expected = *shared.parts[1].delta;
  ASSERT_EQ(attention.size(), expected.size());
  for (std::size_t j = 0; j < attention.size(); ++j)
    EXPECT_NEAR(attention[j], expected[j], 1e-6) << j;
  EXPECT_GT(test::largest_of(attention), 1e-4);
  const auto& whole = *shared.parts[0].delta;
  const auto factors = own.parts[0].delta->size();
  const auto head = own.next.blocks.at("own_adapter").own_view();
  ASSERT_EQ(whole.size(), factors + head.size());
  for (std::size_t j = 0; j < head.size(); ++j)
    EXPECT_NEAR(head[j], whole[factors + j], 1e-6) << j;
  EXPECT_GT(test::largest_of(head), 1e-3);
}

// AdamW's first step is as long as its rate, and its second goes on from both.
TEST(private_head, of_baselines_goes_on_at_the_next_visit) {
  models::inner_plans plans;
  const baseline_step c{"homlora", models::optimiser_kind::adamw};
  const auto site = c.site({{"head", 1}}, plans);
  const auto common = headed_case::values(*plans.adapter, 1);
  const auto first = site.trainer->train(site.visit(common));
  ASSERT_TRUE(first) << first.error().context;
  const auto second = site.trainer->train(site.visit(
    common, std::make_shared<const models::client_state>(first->next)));
  ASSERT_TRUE(second) << second.error().context;
  EXPECT_EQ(second->next.counters.at("own_adapter.steps"), 2u);
  EXPECT_EQ(second->next.moments.size(), 4u);
  const auto before = first->next.blocks.at("own_adapter").own_view();
  const auto after = second->next.blocks.at("own_adapter").own_view();
  for (const auto x : before)
    EXPECT_NEAR(std::abs(x), 0.05, 1e-4);
  EXPECT_GT(test::largest_of(after), 0.08);
  // What is said of ranks is of the adapter that has some.
  const auto scored = [&](const models::client_state& x) {
    const auto found = site.trainer->evaluate(
      {.versions = site.visit(common).fetched,
       .per_client = true,
       .states = {{{1}, std::make_shared<const models::client_state>(x)}}});
    EXPECT_TRUE(found) << found.error().context;
    return found ? *found : models::evaluated{};
  };
  auto bare = second->next;
  bare.blocks.erase("own_adapter");
  const auto with_head = scored(second->next);
  EXPECT_LE(with_head.method_results.at("rank_pre"), 2);
  EXPECT_NE(with_head.per_client.at({1}).mean_loss(),
            scored(bare).per_client.at({1}).mean_loss());
  // Who goes on without it says so.
  const auto third = site.trainer->train(
    site.visit(common, std::make_shared<const models::client_state>(bare)));
  ASSERT_TRUE(third) << third.error().context;
  EXPECT_EQ(with_head.method_results.at("own_adapters_lost"), 0);
  EXPECT_EQ(scored(third->next).method_results.at("own_adapters_lost"), 1);
}

} // namespace troupe::test::private_head_test
