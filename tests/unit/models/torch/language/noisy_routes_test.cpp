// Noisy gates inside an objective: what changes no bit, what is drawn and when,
// and what is learned.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/inner_adapters.hpp"
#include "tests/support/expert_differences.hpp"
#include "tests/support/expert_scene.hpp"

namespace troupe::models::noisy_routes_test {

namespace {

using test::expect_alike;
using test::largest_of;

routing_options noisy(std::uint32_t experts, double balance) {
  return {.experts = experts, .balance = balance, .gate = gate_kind::noisy};
}

/// As this seed draws.
floats slopes_with(expert_scene& x, std::uint64_t seed) {
  std::ranges::fill(x.model->gradient(), 0.f);
  const auto found = x.model->backward(scene_rows, seed);
  EXPECT_TRUE(found) << found.error().context;
  const auto all = x.model->gradient();
  return {all.begin(), all.end()};
}

} // namespace

TEST(noisy_routes, have_two_maps_of_each_block) {
  expert_scene x{test::tiny_llama, noisy(4, 0)};
  const auto& list = x.model->parameter_list();
  ASSERT_GE(list.size(), 4u);
  const std::vector<std::int64_t> inner{4, 16}, outer{4, 4};
  const auto first = list.size() - 4;
  EXPECT_EQ(list[first].name, "router/0.inner");
  EXPECT_EQ(list[first].shape, inner);
  EXPECT_EQ(list[first + 1].name, "router/0.outer");
  EXPECT_EQ(list[first + 1].shape, outer);
  EXPECT_EQ(list.back().name, "router/1.outer");
  EXPECT_EQ(x.groups().values_of(x.last()).size(), 2u * (4 * 16 + 4 * 4));
  x.begin();
  EXPECT_GT(largest_of(x.groups().values_of(x.last()).last(4 * 4)), 0);
}

TEST(noisy_routes, of_experts_that_begin_change_no_bit) {
  for (const auto config : test::tiny_models)
    for (const std::uint32_t experts : {2u, 4u}) {
      SCOPED_TRACE(std::string{config} + std::to_string(experts));
      const auto base = test::base_by_rule(test::tiny_spec(config));
      const auto bare = make_language_objective({}, base, test::unequal_rows())
                          .value()
                          ->evaluate(split::train, scene_rows);
      ASSERT_TRUE(bare) << bare.error().context;
      expert_scene x{config, noisy(experts, 0)};
      x.begin();
      EXPECT_EQ(x.loss(), bare->mean_loss());
      // Whatever is drawn.
      EXPECT_GT(largest_of(x.descend()), 1e-4);
      EXPECT_EQ(largest_of(x.groups().gradient_of(x.last())), 0);
      const auto descended = x.descended;
      EXPECT_NEAR(descended, bare->mean_loss(), 1e-5);
      // But for the balance, of two experts too.
      expert_scene y{config, noisy(experts, 1)};
      y.begin();
      EXPECT_EQ(y.loss(), bare->mean_loss());
      y.descend();
      EXPECT_GT(y.descended, descended);
      EXPECT_GT(largest_of(y.groups().gradient_of(y.last())), 1e-6);
    }
}

TEST(noisy_routes, are_drawn_by_the_seed_and_only_to_descend) {
  expert_scene x{test::tiny_gpt2, noisy(4, 0.5)};
  x.fill();
  const auto before = x.loss();
  const auto first = slopes_with(x, 1);
  EXPECT_EQ(slopes_with(x, 1), first);
  EXPECT_NE(slopes_with(x, 2), first);
  EXPECT_EQ(x.loss(), before);
  // Another model comes to the same.
  expert_scene y{test::tiny_gpt2, noisy(4, 0.5)};
  y.fill();
  EXPECT_EQ(y.loss(), before);
  EXPECT_EQ(slopes_with(y, 1), first);
}

// What is drawn is of a row's number, and so it would show who stands beside.
TEST(noisy_routes, are_quiet_for_who_looks) {
  expert_scene x{test::tiny_gpt2, noisy(4, 0.5)};
  x.fill();
  scores sum;
  for (const auto row : scene_rows) {
    const auto alone = x.model->evaluate(split::train, std::span{&row, 1});
    ASSERT_TRUE(alone) << alone.error().context;
    sum += *alone;
  }
  EXPECT_NEAR(x.loss(), sum.mean_loss(), 1e-6);
  x.groups().take_routing();
  const std::vector<std::uint32_t> first{0};
  ASSERT_TRUE(x.model->evaluate(split::train, first));
  const auto seen = x.groups().take_routing();
  const auto routes = x.groups().routes(split::train, 0);
  ASSERT_TRUE(routes) << routes.error().context;
  const auto tokens = routes->size() / 2;
  for (std::size_t layer = 0; layer < 2; ++layer)
    EXPECT_NEAR(seen.first_places[layer],
                static_cast<double>(std::ranges::count(
                  std::span{*routes}.subspan(tokens * layer, tokens), 0u))
                  / static_cast<double>(tokens),
                1e-12);
}

// With another number of rows in a pass it would draw others.
TEST(noisy_routes, are_drawn_whatever_passes_there_are) {
  expert_scene whole{test::tiny_gpt2, noisy(4, 0)};
  expert_scene some{test::tiny_gpt2, noisy(4, 0), {.micro_batch = 1}};
  whole.fill();
  some.fill();
  expect_alike(some.descend(), whole.descend(), 1e-6);
  EXPECT_NEAR(some.descended, whole.descended, 1e-5);
}

TEST(noisy_routes, have_the_slopes_that_differences_say) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    auto how = noisy(3, 0.5);
    how.top = 3; // There are no steps in it.
    expert_scene x{config, how};
    x.fill();
    expect_slope_of_differences(x);
  }
}

TEST(noisy_routes, curve_by_the_same_draws) {
  auto how = noisy(3, 0.5);
  how.top = 3;
  expert_scene x{test::tiny_gpt2, how, {.micro_batch = 2}};
  x.fill();
  expect_curve_of_differences(x);
}

} // namespace troupe::models::noisy_routes_test
