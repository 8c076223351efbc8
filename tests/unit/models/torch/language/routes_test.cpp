// Experts and routers inside an objective: what changes no bit, what is
// learned, and what is seen.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/continuations.hpp"
#include "models/inner_adapters.hpp"
#include "models/torch/frozen_parts.hpp"
#include "models/torch/group_buffers.hpp"
#include "models/torch/language/network.hpp"
#include "tests/support/expert_differences.hpp"
#include "tests/support/expert_scene.hpp"
#include "tests/support/stored_language.hpp"

namespace troupe::models::routes_test {

namespace {

using test::expect_alike;
using test::largest_of;

const auto& rows = scene_rows;

double bare_loss(const std::shared_ptr<const language_base>& base) {
  const auto found = make_language_objective({}, base, test::unequal_rows())
                       .value()
                       ->evaluate(split::train, rows);
  EXPECT_TRUE(found);
  return found ? found->mean_loss() : 0;
}

constexpr std::uint32_t numbers_of_experts[] = {2, 3, 4, 5, 6, 7, 8};

/// Any router will do.
void turn(std::span<float> router) {
  std::uint32_t i = 0;
  for (auto& value : router)
    value = static_cast<float>(test::value_by_rule(78, i++)) * 4;
}

using some_base = std::shared_ptr<const language_base>;

/// As single floats, as sixteen bits, and as files have what is quantised.
std::vector<std::pair<std::string, some_base>>
bases_of(std::string_view config) {
  std::vector<std::pair<std::string, some_base>> all{
    {"f32", test::base_by_rule(test::tiny_spec(config))}};
  for (const auto type :
       {stored_type::bf16, stored_type::q8_0, stored_type::q4_1})
    all.emplace_back(
      facts_of(type).name,
      std::make_shared<test::stored_language>(test::wide_spec(config), type));
  return all;
}

/// Experts that begin say what their base says, and those that have learned
/// something else. One alone has no router.
void expect_what_the_base_says(const some_base& base, std::uint32_t experts,
                               bool by_backend) {
  const token_batch rows_by_rule{.ids = test::ids_by_rule(2, 6, 13)};
  const auto arithmetic = cpu();
  group_buffers x{base};
  const auto ok = x.attach(groups_with(*base, experts),
                           by_backend ? arithmetic.get() : nullptr);
  ASSERT_TRUE(ok) << ok.error().context;
  const auto routed = x.route({.experts = experts, .balance = 0});
  ASSERT_TRUE(routed) << routed.error().context;
  std::ranges::copy(x.initial(7), x.values().begin());
  if (experts > 1)
    turn(x.values_of(x.groups().size() - 1));
  const auto network = make_language_network(base->spec());
  frozen_parts bare{base};
  const auto expected = test::said_of(*network, bare, rows_by_rule);
  const auto found = test::said_of(*network, x.parts(), rows_by_rule);
  EXPECT_TRUE(found.equal(expected));
  std::uint32_t i = 0;
  for (auto& value : x.values())
    value = static_cast<float>(test::value_by_rule(77, i++));
  const auto learned = test::said_of(*network, x.parts(), rows_by_rule);
  EXPECT_GT(test::apart(learned, expected), 1e-3);
}

} // namespace

// A loss is one number of many: here is all that a model says, of each token.
TEST(routes, of_experts_that_begin_change_no_bit_of_what_is_said) {
  for (const auto config : test::tiny_models)
    for (const auto& [kept_as, base] : bases_of(config))
      for (std::uint32_t experts = 1; experts <= 8; ++experts)
        for (const bool by_backend : {true, false}) {
          SCOPED_TRACE(std::string{config} + std::to_string(experts) + " over "
                       + kept_as);
          expect_what_the_base_says(base, experts, by_backend);
        }
}

TEST(routes, of_experts_that_begin_change_no_bit_and_have_no_slope) {
  for (const auto config : test::tiny_models)
    for (const auto experts : numbers_of_experts)
      for (const bool by_backend : {true, false}) {
        SCOPED_TRACE(std::string{config} + std::to_string(experts));
        expert_scene x{
          config, {.experts = experts, .balance = 0}, {}, by_backend};
        x.begin();
        turn(x.groups().values_of(x.last()));
        EXPECT_EQ(x.loss(), bare_loss(x.base));
        EXPECT_GT(largest_of(x.descend()), 1e-4);
        EXPECT_EQ(largest_of(x.groups().gradient_of(x.last())), 0);
        x.fill();
        EXPECT_GT(std::abs(x.loss() - bare_loss(x.base)), 1e-4);
        x.descend();
        EXPECT_GT(largest_of(x.groups().gradient_of(x.last())), 1e-5);
      }
}

TEST(routes, have_the_slopes_that_differences_say) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    // The loss that is descended has the balance in it. Where all experts are
    // chosen there are no steps in it.
    expert_scene x{config, {.experts = 3, .top = 3, .balance = 0.5}};
    x.fill();
    expect_slope_of_differences(x);
    // Without it the loss is that of scores.
    expert_scene y{config, {.experts = 4, .balance = 0}};
    y.fill();
    y.descend();
    EXPECT_NEAR(y.descended, y.loss(), 1e-5);
  }
}

// A balance is a product of means over all tokens of the batch, also of those
// whose row has no target.
TEST(routes, are_those_of_the_whole_in_any_passes) {
  const std::vector<std::uint32_t> all{3, 0, 1, 2};
  const routing_options ways[] = {
    {.experts = 8, .balance = 0},
    {.experts = 2, .balance = 10},
    {.experts = 4, .balance = 1},
    {.experts = 8, .balance = 1, .favoured = 0},
    {.experts = 4, .balance = 1, .balance_of_kept = true},
    {.experts = 4, .balance = 1, .balance_on_output = true},
    {.experts = 3, .balance = 1, .gate = gate_kind::noisy},
    {.experts = 2, .balance = 1, .gate = gate_kind::noisy},
  };
  for (const auto config : test::tiny_models)
    for (const auto& how : ways) {
      SCOPED_TRACE(config);
      const auto descend = [&](std::uint32_t passes) {
        expert_scene x{config, how, {.micro_batch = passes}};
        x.fill();
        const auto loss = x.model->backward(all, 1);
        EXPECT_TRUE(loss) << loss.error().context;
        return std::pair{loss.value_or(0), floats(x.model->gradient().begin(),
                                                  x.model->gradient().end())};
      };
      const auto expected = descend(0);
      for (const std::uint32_t passes : {1u, 2u, 3u}) {
        const auto found = descend(passes);
        EXPECT_NEAR(found.first, expected.first, 1e-6 * expected.first);
        expect_alike(found.second, expected.second, 1e-6);
      }
    }
}

TEST(routes, of_two_do_not_hear_of_the_balance) {
  expert_scene x{test::tiny_llama, {.experts = 2, .balance = 0}};
  expert_scene y{test::tiny_llama, {.experts = 2, .balance = 10}};
  x.fill();
  y.fill();
  EXPECT_EQ(x.descend(), y.descend());
  EXPECT_EQ(x.descended, y.descended);
}

TEST(routes, whose_routers_are_zeros_are_even) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    expert_scene even{config, {.experts = 2, .even = true}};
    EXPECT_EQ(even.groups().groups().size(), 3u) << "there is no router";
    even.fill();
    const auto slopes = even.descend();
    expert_scene zeros{config, {.experts = 2}};
    zeros.fill();
    std::ranges::fill(zeros.groups().values_of(3), 0.f);
    zeros.groups().switch_on(3, false);
    auto found = zeros.descend();
    EXPECT_EQ(largest_of(std::span{found}.subspan(slopes.size())), 0);
    found.resize(slopes.size());
    EXPECT_EQ(found, slopes);
    EXPECT_EQ(zeros.loss(), even.loss());
    // So are routers that are left out.
    expert_scene out{config, {.experts = 2}};
    out.fill();
    EXPECT_NE(out.loss(), even.loss());
    out.groups().leave_out(3, true);
    EXPECT_EQ(out.loss(), even.loss());
    EXPECT_FALSE(out.groups().routes(split::train, 0));
    out.groups().leave_out(3, false);
    EXPECT_TRUE(out.groups().routes(split::train, 0));
  }
}

TEST(routes, learn_alone_where_all_else_is_off) {
  expert_scene x{test::tiny_gpt2, {.experts = 4}};
  x.fill();
  const auto all = x.descend();
  for (std::size_t i = 0; i < x.last(); ++i)
    x.groups().switch_on(i, false);
  const auto alone = x.descend();
  const auto n = x.groups().gradient_of(x.last()).size();
  EXPECT_EQ(largest_of(std::span{alone}.first(alone.size() - n)), 0);
  EXPECT_GT(largest_of(std::span{alone}.last(n)), 1e-5);
  expect_alike(std::span{alone}.last(n), std::span{all}.last(n), 1e-6);
  // And the other way round.
  for (std::size_t i = 0; i <= x.last(); ++i)
    x.groups().switch_on(i, i < x.last());
  const auto others = x.descend();
  EXPECT_EQ(largest_of(std::span{others}.last(n)), 0);
  expect_alike(std::span{others}.first(all.size() - n),
               std::span{all}.first(all.size() - n), 1e-6);
}

TEST(routes, are_nothing_to_an_expert_that_nobody_chose) {
  expert_scene x{test::tiny_llama, {.experts = 4, .balance = 0}};
  x.fill();
  // Of equals the first two are chosen.
  std::ranges::fill(x.groups().values_of(x.last()), 0.f);
  const auto before = x.loss();
  x.descend();
  EXPECT_EQ(largest_of(x.groups().gradient_of(4)), 0);
  std::ranges::fill(x.groups().values_of(4),
                    std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(x.loss(), before);
  const auto slopes = x.descend();
  for (const auto value : slopes)
    ASSERT_TRUE(std::isfinite(value));
}

TEST(routes, are_told_by_layer_and_token) {
  expert_scene x{test::tiny_gpt2, {.experts = 4}};
  x.fill();
  const auto routes = x.groups().routes(split::train, 0);
  ASSERT_TRUE(routes) << routes.error().context;
  ASSERT_EQ(routes->size(), 2u * 6);
  EXPECT_LT(*std::ranges::max_element(*routes), 4u);
  EXPECT_TRUE(x.groups().take_routing().first_places
              == (std::vector<double>{0, 0}))
    << "nothing was scored";
  ASSERT_TRUE(x.model->evaluate(split::train, std::vector<std::uint32_t>{0}));
  const auto seen = x.groups().take_routing();
  ASSERT_EQ(seen.first_places.size(), 2u);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const auto of_layer = std::span{*routes}.subspan(6 * layer, 6);
    EXPECT_NEAR(seen.first_places[layer],
                static_cast<double>(std::ranges::count(of_layer, 0u)) / 6,
                1e-12);
    EXPECT_GE(seen.mean_of_first[layer], seen.first_places[layer] / 4);
    EXPECT_LE(seen.mean_of_first[layer], 1);
  }
  // Who descends is not seen.
  x.descend();
  EXPECT_EQ(x.groups().take_routing().mean_of_first,
            (std::vector<double>{0, 0}));
}

// Rows that were scored are padded, and have more places than a prompt.
TEST(routes, of_what_is_written_are_of_no_row_before) {
  for (const auto config : {test::tiny_gpt2, test::tiny_llama}) {
    expert_scene x{config, {.experts = 3}};
    x.fill();
    const std::vector<std::uint32_t> prompt{3, 1};
    const auto write = [&] {
      const auto found =
        x.model->continuations()->go_on(prompt, {.tokens_max = 4});
      EXPECT_TRUE(found) << found.error().context;
      return found ? found->tokens : prompt;
    };
    const auto first = write();
    x.loss();
    const auto seen = x.groups().take_routing();
    x.loss();
    EXPECT_EQ(write(), first);
    EXPECT_EQ(x.groups().take_routing().mean_of_first, seen.mean_of_first);
  }
}

TEST(routes, curve_as_their_gradient_changes) {
  expert_scene x{test::tiny_gpt2,
                 {.experts = 3, .top = 3, .balance = 0.5},
                 {.micro_batch = 2}};
  x.fill();
  expect_curve_of_differences(x);
}

} // namespace troupe::models::routes_test
