// What CoMiGS is compared with over a tiny language model: two experts that
// count the same, shared or each client's own, and the base alone.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/inner_setup.hpp"
#include "models/local_trainer.hpp"
#include "models/torch/language/objective.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/listed_rows.hpp"
#include "tests/support/routed_shapes.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::models {

namespace {

using state_pointer = std::shared_ptr<const client_state>;

std::unique_ptr<objective>
tiny_model(std::string_view config = test::tiny_gpt2) {
  return make_language_objective({},
                                 test::base_by_rule(test::tiny_spec(config)),
                                 test::unequal_rows())
    .value();
}

/// One client of three rows under a method.
struct averaged_site {
  explicit averaged_site(const std::string& name, options said = {},
                         std::string_view config = test::tiny_gpt2)
    : method(
      policies::with_options(*policies::find_recipe(name), said).value()) {
    auto model = tiny_model(config);
    auto task = std::make_shared<local_task>();
    task->method = method;
    task->how.local_steps = 3;
    task->how.batch_size = 0;
    task->how.learning_rate = 0.05;
    task->how.optimiser = optimiser_kind::adamw;
    task->how.method = with_defaults(method, std::move(said));
    task->clients.train = {{0, 1, 2}};
    task->clients.test = {{0, 1}};
    task->clients.own_validation = {{1, 2}};
    task->test_size = 4;
    task->inside =
      inner_plans_for(method, *model, task->how.method, {}).value();
    plans = *task->inside;
    std::map<std::string, tensor_list> shapes;
    if (plans.feed_forward)
      shapes["generalist"] = plans.feed_forward->tensors;
    if (plans.attention)
      shapes["attention"] = plans.attention->tensors;
    if (plans.adapter)
      shapes["adapter"] = plans.adapter->tensors;
    blocks = make_layout(method, shapes, {.weight_max = 16}).value();
    task->blocks = blocks;
    trainer = make_local_trainer(task, std::move(model), cpu()).value();
  }

  /// Of each block first values, or others.
  visit_input visit(state_pointer state = {}, bool drawn = false) const {
    visit_input x{.visit = {{1}, {1}},
                  .seed = 3,
                  .fetched = {},
                  .chosen = {},
                  .state = std::move(state)};
    for (const auto& block : blocks.blocks) {
      const auto& plan = block.family == "attention" ? *plans.attention
                         : block.family == "adapter" ? *plans.adapter
                                                     : *plans.feed_forward;
      x.fetched.push_back(
        {block.id,
         {0},
         share(drawn ? draw(block.size, block.id.value)
                     : initial_adapter(plan, block.id.value))});
    }
    return x;
  }

  trained train(const visit_input& x) const {
    const auto out = trainer->train(x);
    EXPECT_TRUE(out) << out.error().context;
    return out ? *out : trained{};
  }

  double loss(const visit_input& x, const state_pointer& state) const {
    evaluation_input at{
      .versions = x.fetched, .per_client = true, .states = {}};
    if (state)
      at.states[{1}] = state;
    const auto found = trainer->evaluate(at);
    EXPECT_TRUE(found) << found.error().context;
    return found ? found->per_client.at({1}).mean_loss() : 0;
  }

  recipe method;
  inner_plans plans;
  layout blocks;
  std::unique_ptr<models::trainer> trainer;
};

floats kept(const trained& x, const std::string& name) {
  const auto found = x.next.blocks.find(name);
  EXPECT_NE(found, x.next.blocks.end()) << name;
  if (found == x.next.blocks.end())
    return {};
  const auto values = found->second.own_view();
  return {values.begin(), values.end()};
}

/// A client whose routers prefer nobody, of two experts.
state_pointer with_even_routers(std::size_t width) {
  auto state = std::make_shared<client_state>();
  state->blocks["router"] = personal_values{floats(test::routers_of(2, width))};
  state->visits = 1;
  return state;
}

class even_routers : public test::over_shapes {
protected:
  static averaged_site site_of(const std::string& method, options said = {}) {
    return averaged_site{method, std::move(said), GetParam().config};
  }

  static state_pointer no_preference() {
    return with_even_routers(GetParam().width);
  }
};

INSTANTIATE_TEST_SUITE_P(all, even_routers,
                         ::testing::ValuesIn(test::routed_shapes),
                         test::name_of_shape);

} // namespace

TEST(averaged_experts, of_fedavg_offer_all_factors_and_are_kept_as_left) {
  const averaged_site site{"fedavg_lora"};
  EXPECT_TRUE(site.plans.routing.even);
  ASSERT_EQ(site.blocks.blocks.size(), 3u);
  const auto x = site.visit();
  const auto out = site.train(x);
  ASSERT_EQ(out.parts.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& block = site.blocks.blocks[i];
    EXPECT_EQ(out.parts[i].block, block.id);
    EXPECT_EQ(out.parts[i].weight, 1);
    EXPECT_GT(test::largest_of(*out.parts[i].delta), 1e-3) << block.name;
    const auto left = kept(out, "left_" + block.name);
    for (std::size_t j = 0; j < left.size(); ++j)
      EXPECT_EQ((*out.parts[i].delta)[j], left[j] - (*x.fetched[i].values)[j]);
  }
}

TEST(averaged_experts, of_two_begin_apart) {
  const averaged_site site{"fedavg_lora"};
  const auto out = site.train(site.visit());
  EXPECT_NE(kept(out, "left_generalist.0"), kept(out, "left_generalist.1"));
}

TEST(averaged_experts, change_nothing_before_they_have_learned) {
  const auto bare = tiny_model()->evaluate(split::test, std::vector{0u, 1u});
  ASSERT_TRUE(bare);
  for (const auto* name : {"fedavg_lora", "local_lora", "centralised_lora"}) {
    const averaged_site site{name};
    EXPECT_NEAR(site.loss(site.visit(), {}), bare->mean_loss(), 1e-6) << name;
  }
}

TEST(averaged_experts, are_scored_as_the_client_left_them) {
  const averaged_site site{"fedavg_lora"};
  const auto first = site.visit();
  const auto left =
    std::make_shared<const client_state>(site.train(first).next);
  const auto own = site.loss(first, left);
  EXPECT_LT(own, site.loss(first, {}));
  EXPECT_EQ(own, site.loss(site.visit({}, true), left));
  EXPECT_NE(own, site.loss(site.visit({}, true), {}));
}

TEST(averaged_experts, of_clients_alone_begin_all_the_same) {
  const averaged_site site{"local_lora"};
  auto x = site.visit();
  const auto one = site.train(x);
  x.seed = 4; // Of another client, whose batches are all of the rows, too.
  EXPECT_EQ(site.train(x).next.blocks, one.next.blocks);
}

TEST(averaged_experts, of_a_client_alone_are_never_sent_and_go_on) {
  const averaged_site site{"local_lora"};
  const auto first = site.train(site.visit());
  EXPECT_TRUE(first.parts.empty());
  const auto state = std::make_shared<const client_state>(first.next);
  const auto second = site.train(site.visit(state, true));
  EXPECT_NE(kept(second, "specialist.0"), kept(first, "specialist.0"));
  EXPECT_EQ(second.next.counters.at("experts.steps"), 6u);
  // What is fetched is where it began, and no more.
  const auto same = site.train(site.visit(state));
  EXPECT_EQ(same.next, second.next);
}

// A router at 0 is no router.
TEST_P(even_routers, of_two_generalists_are_fedavg_to_the_bit) {
  const auto even = site_of("fedavg_lora");
  const auto routed = site_of("comigs_2g", {{"router_steps", 0}});
  const auto a = even.train(even.visit());
  const auto b = routed.train(routed.visit(no_preference()));
  for (const auto* name :
       {"left_generalist.0", "left_generalist.1", "left_attention"})
    EXPECT_EQ(kept(b, name), kept(a, name)) << name;
  ASSERT_EQ(b.parts.size(), a.parts.size());
  for (std::size_t i = 0; i < a.parts.size(); ++i)
    EXPECT_EQ(*b.parts[i].delta, *a.parts[i].delta);
}

// Of all clients; their moments go on while what they offer is merged.
TEST_P(even_routers, of_two_generalists_are_fedavg_after_merges) {
  const auto still = routed_setting_of(
    "comigs_2g", {{"router_steps", 0}, {"router_deviation", 0}});
  test::routed_federation even{routed_setting_of("fedavg_lora")};
  test::routed_federation routed{still};
  for (int times = 0; times < 2; ++times) {
    even.round();
    routed.round();
    for (const auto* name : {"generalist.0", "generalist.1", "attention"}) {
      SCOPED_TRACE(name);
      EXPECT_EQ(routed.loop().values(name).copy(),
                even.loop().values(name).copy());
    }
  }
  for (const std::uint64_t k : {1, 2, 3}) {
    const auto found = *routed.loop().state({k});
    EXPECT_TRUE(test::is_zero(test::kept(found, "router")));
    EXPECT_EQ(found.moments.at("experts.first"),
              even.loop().state({k})->moments.at("experts.first"));
  }
}

TEST_P(even_routers, of_two_specialists_are_local_and_send_nothing) {
  const auto even = site_of("local_lora");
  const auto routed = site_of("comigs_2s", {{"router_steps", 0}});
  const auto a = even.train(even.visit());
  const auto b = routed.train(routed.visit(no_preference()));
  EXPECT_TRUE(b.parts.empty());
  for (const auto* name : {"specialist.0", "specialist.1", "left_attention"})
    EXPECT_EQ(kept(b, name), kept(a, name)) << name;
}

// Visit after visit, with their moments.
TEST_P(even_routers, of_two_specialists_are_local_and_go_on) {
  test::routed_federation even{routed_setting_of("local_lora")};
  test::routed_federation routed{routed_setting_of(
    "comigs_2s", {{"router_steps", 0}, {"router_deviation", 0}})};
  for (int times = 0; times < 3; ++times) {
    even.round();
    routed.round();
  }
  for (const std::uint64_t k : {1, 2, 3}) {
    const auto found = *routed.loop().state({k});
    const auto expected = *even.loop().state({k});
    for (const auto* name : {"specialist.0", "specialist.1", "left_attention"})
      EXPECT_EQ(test::kept(found, name), test::kept(expected, name)) << name;
    EXPECT_EQ(found.moments.at("experts.first"),
              expected.moments.at("experts.first"));
  }
}

TEST(base_alone, is_scored_whatever_was_sent_down) {
  const auto bare = tiny_model()->evaluate(split::test, std::vector{0u, 1u});
  ASSERT_TRUE(bare);
  const averaged_site site{"pretrained"};
  EXPECT_EQ(site.loss(site.visit({}, true), {}), bare->mean_loss());
  const auto out = site.train(site.visit({}, true));
  EXPECT_TRUE(out.parts.empty());
  EXPECT_TRUE(out.next.blocks.empty());
}

} // namespace troupe::models
