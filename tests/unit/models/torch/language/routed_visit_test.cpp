// Visits of clients whose language model has several experts in each of its
// feed-forward blocks.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "models/visit/local_loop.hpp"
#include "tests/support/routed_shapes.hpp"

namespace troupe::test {

namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

/// Whether a learned value lies in what was sent, four at a time.
bool holds(const floats& sent, const floats& own) {
  for (std::size_t i = 0; i + 4 <= own.size(); ++i)
    for (std::size_t j = 0; j + 4 <= sent.size(); ++j)
      if (own[i] != 0 && std::memcmp(&own[i], &sent[j], 4 * sizeof(float)) == 0)
        return true;
  return false;
}

class routed_visit : public over_shapes {};

INSTANTIATE_TEST_SUITE_P(all, routed_visit, ::testing::ValuesIn(routed_shapes),
                         name_of_shape);

} // namespace

TEST_P(routed_visit, bursts_come_by_a_client_s_own_steps) {
  notes seen;
  auto how = routed_setting_of("comigs");
  how.how.local_steps = 7; // No divisor of 30.
  how.to = &seen;
  routed_federation testee{how};
  std::vector<std::uint64_t> bursts;
  std::uint64_t steps = 0;
  std::uint64_t in_burst = 0;
  for (int i = 0; i < 9; ++i) {
    seen.clear();
    testee.round({2});
    for (const auto& x : seen)
      if (is_of_training(x)) {
        ++steps;
      } else {
        EXPECT_TRUE(is_of_validation(x));
        if (bursts.empty() || bursts.back() != steps)
          bursts.push_back(steps);
        ++in_burst;
      }
  }
  EXPECT_EQ(steps, 63u);
  EXPECT_THAT(bursts, ElementsAre(30u, 60u));
  EXPECT_EQ(in_burst, 20u);
  const auto& counters = testee.loop().state({2})->counters;
  EXPECT_EQ(counters.at("experts.steps"), 63u);
  EXPECT_EQ(counters.at("router.steps"), 20u);
}

TEST_P(routed_visit, no_phase_sees_or_moves_what_is_the_other_s) {
  notes seen;
  auto how = routed_setting_of("comigs", often());
  how.how.local_steps = 8;
  how.to = &seen;
  routed_federation testee{how};
  testee.round({1});
  ASSERT_EQ(seen.size(), 8u + 4u);
  const auto routers = routers_of(2);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    SCOPED_TRACE(i);
    const auto& x = seen[i];
    EXPECT_TRUE(is_zero(x.before)) << "something of another step is left";
    const bool trains = is_of_training(x);
    EXPECT_TRUE(is_zero(trains ? routers_in(x.after, routers)
                               : experts_of(x.after, routers)));
    if (i + 1 == seen.size())
      continue;
    const auto& then = seen[i + 1].parameters;
    EXPECT_EQ(experts_of(x.parameters, routers) == experts_of(then, routers),
              !trains);
    EXPECT_EQ(routers_in(x.parameters, routers) == routers_in(then, routers),
              trains);
  }
}

TEST_P(routed_visit,
       a_gradient_of_the_other_phase_is_left_where_that_is_asked) {
  notes seen;
  auto how = routed_setting_of("comigs", often({{"grad_leak_compat", 1}}));
  how.how.local_steps = 3;
  how.to = &seen;
  routed_federation testee{how};
  testee.round({1});
  ASSERT_EQ(seen.size(), 5u);
  const auto routers = routers_of(2);
  EXPECT_FALSE(is_zero(routers_in(seen[3].before, routers)))
    << "of three steps of the experts";
  const auto left = testee.loop().state({1})->moments.at("left.gradient");
  seen.clear();
  testee.round({1});
  ASSERT_EQ(seen.size(), 5u);
  const auto view = left.own_view();
  EXPECT_EQ(seen[0].before, floats(view.begin(), view.end()));
  EXPECT_FALSE(is_zero(experts_of(seen[0].before, routers)))
    << "of a burst, in the next visit";
  routed_federation strict{routed_setting_of("comigs", often())};
  strict.round({1});
  EXPECT_FALSE(strict.loop().state({1})->moments.contains("left.gradient"));
}

TEST_P(routed_visit, offers_what_is_shared_and_keeps_the_rest) {
  routed_federation testee{routed_setting_of("comigs", often())};
  const auto found = testee.trainer().train(testee.visit(1, 5));
  ASSERT_TRUE(found) << found.error().context;
  std::vector<std::string> offered;
  floats sent;
  for (const auto& x : found->parts) {
    offered.push_back(testee.task().blocks.find(x.block)->name);
    EXPECT_EQ(x.weight, 1);
    sent.insert(sent.end(), x.delta->begin(), x.delta->end());
  }
  EXPECT_THAT(offered, ElementsAre("generalist", "attention"));
  EXPECT_THAT(keys_of(found->next.blocks),
              UnorderedElementsAre("specialist.0", "router", "left_generalist",
                                   "left_attention"));
  EXPECT_THAT(keys_of(found->next.moments),
              UnorderedElementsAre("experts.first", "experts.second",
                                   "router.first", "router.second"));
  EXPECT_TRUE(found->disclosures.empty());
  for (const auto* name : {"specialist.0", "router"})
    EXPECT_FALSE(holds(sent, kept(found->next, name))) << name;
}

TEST_P(routed_visit, keeps_attention_where_that_is_private) {
  routed_federation testee{
    routed_setting_of("comigs", often({{"attention", 1}}))};
  EXPECT_TRUE(testee.task().blocks.family("attention").empty());
  const auto found = testee.trainer().train(testee.visit(1, 5));
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->parts.size(), 1u);
  EXPECT_FALSE(is_zero(kept(found->next, "attention")));
}

TEST_P(routed_visit, begins_with_what_came_and_what_it_kept) {
  notes seen;
  auto how = routed_setting_of("comigs", often());
  how.to = &seen;
  routed_federation testee{how};
  testee.round();
  const auto before = *testee.loop().state({3});
  const auto general = testee.loop().values("generalist").copy();
  seen.clear();
  testee.round({3});
  const auto& x = seen.front().parameters;
  const auto attention = testee.loop().values("attention").size();
  const auto own = kept(before, "specialist.0");
  EXPECT_EQ(part(x, 0, general.size()), floats(general.begin(), general.end()));
  EXPECT_EQ(part(x, general.size() + attention, own.size()), own);
  EXPECT_EQ(routers_in(x, routers_of(2)), kept(before, "router"));
  EXPECT_NE(kept(before, "left_generalist"),
            floats(general.begin(), general.end()));
}

TEST_P(routed_visit, experts_step_by_the_schedule_and_routers_by_none) {
  notes seen;
  auto how = routed_setting_of("comigs", often({{"router_rate", 0.25}}));
  how.how.optimiser = models::optimiser_kind::sgd;
  how.how.weight_decay = 0.25; // Of both, by the rate of each.
  how.how.learning_rate = 0.02;
  how.how.schedule = policies::cosine_schedule{0.1};
  how.how.own_steps = 12;
  how.how.local_steps = 6;
  how.to = &seen;
  routed_federation testee{how};
  testee.round({1});
  testee.round({1});
  std::uint64_t g = 0;
  std::size_t looked_at = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto& x = seen[i];
    const bool trains = is_of_training(x);
    g += trains;
    // What follows in the next visit begins elsewhere.
    if (i + 1 == seen.size() || (g == 6 && is_of_training(seen[i + 1])))
      continue;
    const auto steepest =
      std::ranges::max_element(x.after, {}, [](float v) { return std::abs(v); })
      - x.after.begin();
    const auto at = static_cast<std::size_t>(steepest);
    const auto along = x.after[at] + 0.25f * x.parameters[at];
    if (std::abs(along) < 1e-3f)
      continue;
    const auto moved = x.parameters[at] - seen[i + 1].parameters[at];
    const auto gone = static_cast<double>(g - 1) / 12;
    const auto scheduled =
      0.002 + 0.018 * 0.5 * (1 + std::cos(3.14159265358979323846 * gone));
    const auto rate = trains ? scheduled : 0.25;
    EXPECT_NEAR(moved / along, rate, 5e-3 * rate) << "step " << g;
    ++looked_at;
  }
  EXPECT_GT(looked_at, 8u);
}

TEST_P(routed_visit, of_one_expert_is_plain_training_of_its_factors) {
  auto how = routed_setting_of("comigs");
  how.experts = {1};
  how.how.beta1 = 0.8;
  how.how.beta2 = 0.95;
  routed_federation testee{how};
  const auto in = testee.visit(1, 5);
  const auto found = testee.trainer().train(in);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_THAT(keys_of(found->next.blocks),
              UnorderedElementsAre("left_generalist", "left_attention"));

  const auto model = testee.make(nullptr);
  const auto arithmetic = kernels::make_backend({}).value();
  const auto& plans = *testee.task().inside;
  const auto attached =
    model->inside()->attach({{.name = "general", .plan = *plans.feed_forward},
                             {.name = "attention", .plan = *plans.attention}},
                            arithmetic.get());
  ASSERT_TRUE(attached) << attached.error().context;
  auto to = model->parameters().begin();
  for (const auto& x : in.fetched)
    to = std::ranges::copy(*x.values, to).out;
  ASSERT_EQ(to, model->parameters().end());
  models::batch_sequence from{testee.task().clients.train[0], testee.task().how,
                              5};
  models::aligned_floats first(model->parameters().size());
  models::aligned_floats second(model->parameters().size());
  for (std::uint64_t i = 1; i <= 4; ++i) {
    const auto now = from.next_batch();
    ASSERT_TRUE(model->backward(now.rows, now.seed));
    const kernels::adamw_call step{{.rate = 0.01f,
                                    .beta1 = 0.8f,
                                    .beta2 = 0.95f,
                                    .decay = 0.01f,
                                    .count = i},
                                   {.weights = model->parameters(),
                                    .gradient = model->gradient(),
                                    .first_moment = first,
                                    .second_moment = second}};
    ASSERT_TRUE(arithmetic->step(std::span{&step, 1}));
  }
  const auto general = kept(found->next, "left_generalist");
  const auto attention = kept(found->next, "left_attention");
  const floats all{model->parameters().begin(), model->parameters().end()};
  EXPECT_EQ(general, part(all, 0, general.size()));
  EXPECT_EQ(attention, part(all, general.size(), attention.size()));
}

TEST_P(routed_visit, does_not_depend_on_the_load_balance_of_two) {
  const auto values = [](double balance) {
    auto how = routed_setting_of("comigs", often({{"balance", balance}}));
    how.how.optimiser = models::optimiser_kind::sgd; // Moments enlarge noise.
    routed_federation testee{how};
    testee.round({1});
    testee.round({1});
    return kept(*testee.loop().state({1}), "specialist.0");
  };
  const auto without = values(0);
  EXPECT_FALSE(is_zero(without));
  test::expect_alike(values(0.01), without, 1e-5);
}

TEST_P(routed_visit, with_a_router_that_prefers_none_is_a_mean_of_two) {
  for (const std::string method : {"comigs_2s", "comigs_2g"}) {
    SCOPED_TRACE(method);
    const auto trained = [&](bool has_router) {
      auto how = routed_setting_of(method, {{"router_steps", 0}});
      if (!has_router)
        std::erase_if(how.method.blocks,
                      [](const block_spec& x) { return x.name == "router"; });
      routed_federation testee{how};
      auto in = testee.visit(1, 5);
      models::client_state before;
      if (has_router)
        before.blocks["router"] = personal_values{floats(routers_of(2))};
      in.state = std::make_shared<const models::client_state>(before);
      const auto found = testee.trainer().train(in);
      EXPECT_TRUE(found) << found.error().context;
      return *found;
    };
    const auto routed = trained(true);
    const auto even = trained(false);
    EXPECT_TRUE(is_zero(kept(routed.next, "router")));
    for (const auto& [name, values] : even.next.blocks)
      EXPECT_EQ(values, routed.next.blocks.at(name)) << name;
    for (const auto& [name, values] : even.next.moments)
      EXPECT_EQ(values, routed.next.moments.at(name)) << name;
    ASSERT_EQ(even.parts.size(), routed.parts.size());
    EXPECT_EQ(even.parts.size(), method == "comigs_2s" ? 0u : 3u);
    for (std::size_t i = 0; i < even.parts.size(); ++i)
      EXPECT_EQ(*even.parts[i].delta, *routed.parts[i].delta);
  }
}

} // namespace troupe::test
