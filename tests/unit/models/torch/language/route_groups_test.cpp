// Which groups stand where blocks are routed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "models/inner_adapters.hpp"
#include "tests/support/expert_scene.hpp"

namespace troupe::models::route_groups_test {

namespace {

using test::largest_of;

std::string refused(inner_adapters& x, const routing_options& how) {
  const auto ok = x.route(how);
  EXPECT_FALSE(ok);
  EXPECT_EQ(ok ? errc::unsupported : ok.error().code, errc::invalid_config);
  return ok ? "" : ok.error().context;
}

} // namespace

TEST(route_groups, have_a_router_of_each_block_as_their_last_group) {
  expert_scene x{test::tiny_llama, {.experts = 4}};
  ASSERT_EQ(x.groups().groups().size(), 6u);
  EXPECT_EQ(x.groups().groups()[x.last()].name, "router");
  const auto& list = x.model->parameter_list();
  const std::vector<std::int64_t> shape{4, 16};
  ASSERT_GE(list.size(), 2u);
  EXPECT_EQ(list[list.size() - 2].name, "router/0");
  EXPECT_EQ(list.back().name, "router/1");
  EXPECT_EQ(list.back().shape, shape);
  EXPECT_EQ(x.groups().values_of(x.last()).size(), 2u * 4 * 16);
  EXPECT_EQ(x.model->parameters().size(), size_of(list));
  // Routers draw for themselves, and others as they did.
  x.begin(7);
  const auto seed = derive_seed(derive_seed(7, "router"), "router", 1);
  random_stream draws{seed};
  const auto values = x.groups().values_of(x.last()).subspan(4 * 16);
  for (const auto value : values)
    EXPECT_EQ(value, static_cast<float>(0.02 * draws.normal()));
  const auto first =
    initial_adapter(plan_of(*x.base, true), derive_seed(7, "expert.0"));
  EXPECT_TRUE(std::ranges::equal(x.groups().values_of(1), first));
}

TEST(route_groups, of_one_expert_have_no_router_and_are_a_plain_group) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    expert_scene x{config, {.experts = 1, .top = 2}};
    EXPECT_EQ(x.groups().groups().size(), 2u);
    x.fill();
    expert_scene plain{config, {.experts = 1}};
    const auto plan = plan_of(*plain.base, true);
    ASSERT_TRUE(plain.groups().attach(
      {{.name = "attention", .plan = plan_of(*plain.base, false), .scale = 2},
       {.name = "adapter", .plan = plan, .scale = 1.5f}},
      plain.arithmetic.get()));
    plain.fill();
    EXPECT_EQ(x.descend(), plain.descend());
    EXPECT_EQ(x.descended, plain.descended);
    EXPECT_EQ(x.loss(), plain.loss());
    EXPECT_GT(largest_of(x.groups().gradient_of(1)), 1e-4);
    const auto none = x.groups().routes(split::train, 0);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, errc::unsupported);
    EXPECT_EQ(none.error().context,
              "no router stands inside this model; two experts or more would "
              "do");
    EXPECT_TRUE(x.groups().take_routing().mean_of_first.empty());
  }
}

TEST(route_groups, may_be_made_anew) {
  expert_scene x{test::tiny_gpt2, {.experts = 2}};
  x.fill();
  const auto first = x.loss();
  ASSERT_TRUE(x.groups().route({.experts = 2, .even = true}));
  EXPECT_EQ(x.groups().groups().size(), 3u);
  EXPECT_EQ(largest_of(x.model->parameters()), 0);
  ASSERT_TRUE(x.groups().route({.experts = 2}));
  EXPECT_EQ(x.groups().groups().size(), 4u);
  x.fill();
  EXPECT_EQ(x.loss(), first);
}

TEST(route_groups, refuse_what_does_not_go_together) {
  expert_scene x{test::tiny_gpt2, {.experts = 2}};
  x.fill();
  const auto loss = x.loss();
  EXPECT_EQ(refused(x.groups(), {.experts = 0}),
            "routed blocks of 0 experts were asked for; 1 or more would do");
  EXPECT_EQ(refused(x.groups(), {.experts = 2, .top = 0}),
            "each token would go to 0 experts; 'top' = 2 would do");
  EXPECT_EQ(refused(x.groups(), {.experts = 2, .balance = -1}),
            "the balance of loads counts -1.000000 times; 0 or more would do");
  EXPECT_EQ(refused(x.groups(), {.experts = 2, .favoured = 1}),
            "the generalist's part of the slots is 1.000000; 0 or more and "
            "less than 1 would do");
  EXPECT_EQ(refused(x.groups(), {.experts = 1}),
            "'expert.1' is of expert 1, and the last is expert 0; 2 experts "
            "would do");
  EXPECT_EQ(refused(x.groups(), {.experts = 3}),
            "no group is of expert 2 of 3; one of each would do");
  EXPECT_EQ(x.loss(), loss) << "all is as before";
  const auto plan = plan_of(*x.base, true);
  ASSERT_TRUE(x.groups().attach({{.name = "router", .plan = plan}}, nullptr));
  EXPECT_EQ(refused(x.groups(), {}),
            "'router' has the name of what finds experts; another would do");
  ASSERT_TRUE(x.groups().attach(
    {{.name = "one", .plan = plan_of(*x.base, false), .scale = 1, .expert = 0}},
    nullptr));
  EXPECT_EQ(refused(x.groups(), {}),
            "'one' is of expert 0 and adapts "
            "'transformer.h.0.attn.c_attn.weight', where all experts are one; "
            "layers of feed-forward blocks alone would do");
}

} // namespace troupe::models::route_groups_test
