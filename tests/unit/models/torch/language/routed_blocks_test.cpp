// Routed blocks in double, held against experts that are computed one token
// after the other, each with composed weights.

#include "models/torch/language/routed_blocks.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/small_blocks.hpp"

namespace troupe::models::routed_blocks_test {

namespace {

using test::apart;
using test::expect_near;
using test::ruled;
using test::small_blocks;
using test::tensors;
using test::weighed;

constexpr std::int64_t tokens = 10;

at::Tensor logarithms(std::vector<double> chances, std::int64_t experts) {
  return at::tensor(chances, at::kDouble).log().reshape({-1, experts});
}

constexpr std::string_view both[] = {test::tiny_gpt2, test::tiny_llama};

} // namespace

TEST(expert_choice, of_two_is_a_softmax_over_both) {
  const auto logits = ruled(1, {5, 2});
  const auto found = choose(logits, 2);
  EXPECT_TRUE(at::equal(found.weights, at::softmax(logits, 1)));
}

TEST(expert_choice, is_a_softmax_over_those_that_are_kept) {
  const auto logits =
    at::tensor({1., 3., 2., 0., 5., 5., 5., 5.}, at::kDouble).reshape({2, 4});
  const auto found = choose(logits, 2);
  const auto most = 1 / (1 + std::exp(-1.));
  const auto expected =
    at::tensor({0., most, 1 - most, 0., 0.5, 0.5, 0., 0.}, at::kDouble)
      .reshape({2, 4});
  EXPECT_LT(apart(found.weights, expected), 1e-14);
  // Of equals the first.
  const std::vector<std::int64_t> order{1, 2, 0, 1};
  EXPECT_TRUE(
    at::equal(found.order, at::tensor(order, at::kLong).reshape({2, 2})));
}

TEST(expert_choice, has_weights_that_add_up_to_one) {
  for (const std::int64_t experts : {2, 3, 8}) {
    const auto found = choose(8 * ruled(2, {20, experts}), 2);
    EXPECT_LT(apart(found.weights.sum(1), at::ones({20}, at::kDouble)), 1e-14);
    EXPECT_EQ(found.weights.ne(0).sum().item<std::int64_t>(), 40);
  }
}

TEST(expert_choice, gives_a_slope_to_those_that_are_kept_alone) {
  const auto logits = logarithms({0.4, 0.3, 0.2, 0.1}, 4).requires_grad_();
  const auto slopes = torch::autograd::grad(
    {choose(logits, 2).weights.select(1, 0).sum()}, {logits})[0];
  // Of p = 4/7 it is p (1 - p), and of the other the same below zero.
  const auto expected =
    at::tensor({12. / 49, -12. / 49, 0., 0.}, at::kDouble).reshape({1, 4});
  EXPECT_LT(apart(slopes, expected), 1e-14);
}

TEST(load_balance, is_what_a_hand_computes) {
  const auto logits =
    logarithms({0.4, 0.3, 0.2, 0.1, 0.1, 0.2, 0.3, 0.4}, 4).requires_grad_();
  const auto order = choose(logits, 2).order;
  const auto at = [&](const routing_options& how) {
    return load_balance(logits, order, balance_rates(how)).item<double>();
  };
  // Each has half of the tokens and a mean chance of 1/4; rates 1, 3, 3, 3.
  EXPECT_NEAR(at({.experts = 4}), (1 + 3 * 3) / 8., 1e-14);
  EXPECT_NEAR(at({.experts = 4, .printed_scale = true}), 1 / 8., 1e-14);
  EXPECT_NEAR(at({.experts = 4, .favoured = 0}), 1, 1e-14);
}

// Four tokens go to 0 and 1, 1 and 2, 7 and 0, 1 and 2: experts 0, 1, 2 and 7
// have 2/4, 3/4, 2/4 and 1/4 of them, and mean chances of 0.2375, 0.325, 0.1625
// and 0.1.
TEST(load_balance, of_eight_that_are_loaded_unequally_is_what_a_hand_computes) {
  const auto logits =
    logarithms({0.5,  0.2, 0.1,  0.1,  0.05, 0.02, 0.02, 0.01, //
                0.05, 0.4, 0.3,  0.1,  0.05, 0.05, 0.03, 0.02, //
                0.3,  0.1, 0.05, 0.05, 0.05, 0.05, 0.05, 0.35, //
                0.1,  0.6, 0.2,  0.02, 0.02, 0.02, 0.02, 0.02},
               8);
  const auto order = choose(logits, 2).order;
  const auto at = [&](const routing_options& how) {
    return load_balance(logits, order, balance_rates(how)).item<double>();
  };
  const double first = 0.11875, others = 0.24375 + 0.08125 + 0.025;
  EXPECT_NEAR(at({.experts = 8}), first + 7 * others, 1e-14);
  EXPECT_NEAR(at({.experts = 8, .printed_scale = true}),
              (first + 7 * others) / 50, 1e-14);
  EXPECT_NEAR(at({.experts = 8, .favoured = 0}), 4 * (first + others), 1e-14);
}

TEST(load_balance, is_one_where_loads_are_as_wanted) {
  for (const std::int64_t experts : {4, 8}) {
    // Each token goes to the first and to another one: each of them has one.
    std::vector<double> chances;
    const auto rest = 0.1 / static_cast<double>(experts - 2);
    for (std::int64_t token = 1; token < experts; ++token)
      for (std::int64_t i = 0; i < experts; ++i)
        chances.push_back(i == 0 ? 0.5 : i == token ? 0.4 : rest);
    const auto logits = logarithms(chances, experts);
    routing_options how{.experts = static_cast<std::uint32_t>(experts)};
    const auto order = choose(logits, 2).order;
    EXPECT_NEAR(load_balance(logits, order, balance_rates(how)).item<double>(),
                1, 1e-14);
    how.printed_scale = true;
    const auto others = static_cast<double>((experts - 1) * (experts - 1));
    EXPECT_NEAR(load_balance(logits, order, balance_rates(how)).item<double>(),
                1 / (others + 1), 1e-14);
  }
}

TEST(load_balance, has_the_slope_of_mean_chances_times_counts) {
  const auto logits = logarithms({0.4, 0.3, 0.2, 0.1}, 4).requires_grad_();
  const std::vector<double> rates{1, 3, 3, 3};
  const auto loads = load_balance(logits, choose(logits, 2).order, rates);
  EXPECT_NEAR(loads.item<double>(), 0.4 + 3 * 0.3, 1e-14);
  // p_i (r_i - sum of r p), with r = 1, 3, 0, 0.
  const auto expected =
    at::tensor({0.4 * -0.3, 0.3 * 1.7, 0.2 * -1.3, 0.1 * -1.3}, at::kDouble)
      .reshape({1, 4});
  EXPECT_LT(apart(torch::autograd::grad({loads}, {logits})[0], expected),
            1e-14);
}

TEST(load_balance, of_two_is_a_constant) {
  EXPECT_EQ(balance_rates({.experts = 2}), (std::vector<double>{1, 1}));
  const small_blocks x{test::tiny_gpt2, {.experts = 2}};
  auto blocks = x.testee();
  blocks.forward(*x.parts, x.terms(), 0, ruled(5, {tokens, 8}));
  EXPECT_FALSE(blocks.balance().defined());
}

TEST(routed_blocks, are_the_sum_of_what_chosen_experts_say) {
  for (const auto config : both)
    for (const std::uint32_t experts : {2u, 4u, 8u}) {
      SCOPED_TRACE(std::string{config} + std::to_string(experts));
      const small_blocks x{config, {.experts = experts}};
      auto blocks = x.testee();
      auto with_input = x.learned;
      const auto rows = ruled(5, {tokens, x.spec.width}).requires_grad_();
      with_input.push_back(rows);
      for (std::size_t layer = 0; layer < 2; ++layer) {
        const auto ours = blocks.forward(*x.parts, x.terms(), layer,
                                         rows.reshape({2, tokens / 2, -1}));
        EXPECT_EQ(ours.dim(), 3);
        tensors one_by_one;
        for (std::int64_t i = 0; i < tokens; ++i)
          one_by_one.push_back(x.slowly(layer, rows.narrow(0, i, 1)));
        const auto theirs = at::cat(one_by_one);
        EXPECT_LT(apart(ours.reshape(theirs.sizes()), theirs), 1e-11);
        const auto slopes = [&](const at::Tensor& y) {
          auto all = torch::autograd::grad({weighed(y)}, with_input, {}, {},
                                           false, true);
          // Whom nobody chose has none, or one of zeros.
          for (std::size_t i = 0; i < all.size(); ++i)
            if (!all[i].defined())
              all[i] = at::zeros(with_input[i].sizes(), at::kDouble);
          return all;
        };
        expect_near(slopes(ours.reshape(theirs.sizes())), slopes(theirs), 1e-9);
      }
    }
}

// Chances are 0.4, 0.3, 0.2 and 0.1, so those that are kept have 0.7.
TEST(routed_blocks, may_count_what_is_kept_of_all_chances) {
  for (const auto config : both) {
    const small_blocks x{config, {.experts = 4, .of_all = true}};
    const auto rows = at::eye(x.spec.width, at::kDouble).narrow(0, 0, 1);
    {
      const c10::NoGradGuard no_grad;
      x.routers[0].select(1, 0).copy_(
        logarithms({0.4, 0.3, 0.2, 0.1}, 4).reshape({-1}));
    }
    auto how = x.how;
    how.of_all = false;
    routed_blocks as_one{x.spec, how, x.routers};
    auto blocks = x.testee();
    const auto ours = blocks.forward(*x.parts, x.terms(), 0, rows);
    EXPECT_LT(apart(ours, 0.7 * as_one.forward(*x.parts, x.terms(), 0, rows)),
              1e-13);
    const auto slowly = x.slowly(0, rows);
    EXPECT_LT(apart(ours, slowly), 1e-11);
    const auto slopes = [&](const at::Tensor& z) {
      return torch::autograd::grad({weighed(z)}, {x.routers[0]});
    };
    expect_near(slopes(ours), slopes(slowly), 1e-9);
  }
}

// A router that says nothing else lets all tokens go where its bias says.
TEST(routed_blocks, may_have_routers_with_a_bias) {
  for (const auto config : both) {
    const small_blocks x{config, {.experts = 4, .bias = true}};
    const auto rows = ruled(5, {tokens, x.spec.width});
    auto blocks = x.testee();
    const auto ours = blocks.forward(*x.parts, x.terms(), 1, rows);
    tensors one_by_one;
    for (std::int64_t i = 0; i < tokens; ++i)
      one_by_one.push_back(x.slowly(1, rows.narrow(0, i, 1)));
    EXPECT_LT(apart(ours, at::cat(one_by_one)), 1e-11);
    EXPECT_GT(torch::autograd::grad({weighed(ours)}, {x.routers[3]})[0]
                .abs()
                .max()
                .item<double>(),
              1e-6);
    const c10::NoGradGuard no_grad;
    x.routers[2].zero_();
    x.routers[3].copy_(logarithms({0.1, 0.4, 0.2, 0.3}, 4).reshape({-1}));
    EXPECT_LT(apart(blocks.forward(*x.parts, x.terms(), 1, rows),
                    (4 * x.expert(1, 1, rows) + 3 * x.expert(3, 1, rows)) / 7),
              1e-12);
  }
}

TEST(routed_blocks, of_two_keep_all_chances) {
  const small_blocks x{test::tiny_gpt2, {.experts = 2, .of_all = true}};
  const small_blocks y{test::tiny_gpt2, {.experts = 2}};
  const auto rows = ruled(5, {tokens, x.spec.width});
  auto ours = x.testee(), theirs = y.testee();
  EXPECT_TRUE(at::equal(ours.forward(*x.parts, x.terms(), 0, rows),
                        theirs.forward(*y.parts, y.terms(), 0, rows)));
}

TEST(routed_blocks, without_routers_are_a_mean) {
  for (const auto config : both) {
    const small_blocks x{config, {.experts = 2, .even = true}};
    auto blocks = x.testee();
    EXPECT_FALSE(blocks.chooses());
    const auto rows = ruled(5, {tokens, x.spec.width});
    const auto ours = blocks.forward(*x.parts, x.terms(), 1, rows);
    EXPECT_LT(apart(ours, (x.expert(0, 1, rows) + x.expert(1, 1, rows)) / 2),
              1e-13);
    // So are routers that are left out, and those of zeros.
    const small_blocks y{config, {.experts = 2}};
    auto routed = y.testee();
    routed.leave_out(true);
    EXPECT_TRUE(at::equal(routed.forward(*y.parts, y.terms(), 1, rows), ours));
    routed.leave_out(false);
    EXPECT_GT(apart(routed.forward(*y.parts, y.terms(), 1, rows), ours), 1e-3);
    const c10::NoGradGuard no_grad;
    y.routers[1].zero_();
    EXPECT_TRUE(at::equal(routed.forward(*y.parts, y.terms(), 1, rows), ours));
  }
}

TEST(routed_blocks, spread_nothing_of_whom_nobody_chose) {
  const small_blocks x{test::tiny_llama, {.experts = 4}};
  const auto rows = ruled(5, {tokens, x.spec.width});
  const auto choice = choose(rows.mm(x.routers[0].t()), 2);
  // Who is chosen by some, and not by all, says no numbers.
  for (std::int64_t bad = 0; bad < 4; ++bad) {
    const auto is_hit = choice.order.eq(bad).any(1);
    auto blocks = x.testee();
    const auto before = blocks.forward(*x.parts, x.terms(), 0, rows);
    const auto terms = [&](std::uint32_t expert, std::size_t place,
                           const at::Tensor& y, const at::Tensor& of) {
      const auto& f = x.factors.at({expert, place});
      const auto u = expert == static_cast<std::uint32_t>(bad)
                       ? at::full_like(f.u.detach(), std::nan(""))
                       : f.u;
      return y + of.mm(f.v.t()).mm(u);
    };
    const auto after = blocks.forward(*x.parts, terms, 0, rows);
    for (std::int64_t i = 0; i < tokens; ++i) {
      const auto is_equal = at::equal(after[i], before[i]);
      EXPECT_NE(is_hit[i].item<bool>(), is_equal) << i;
    }
  }
}

TEST(routed_blocks, count_what_is_there) {
  const small_blocks x{test::tiny_gpt2, {.experts = 4, .balance = 0.5}};
  auto blocks = x.testee();
  const auto rows = ruled(5, {2, 3, x.spec.width});
  auto there = at::ones({2, 3}, at::kBool);
  there.select(0, 1).narrow(0, 1, 2).fill_(false);
  const auto seen = rows.reshape({6, -1}).narrow(0, 0, 4);
  const auto go = [&] {
    for (std::size_t layer = 0; layer < 2; ++layer)
      blocks.forward(*x.parts, x.terms(), layer, rows);
  };
  blocks.begin({.there = there});
  go();
  double mean = 0;
  for (const auto& router : x.routers) {
    const auto logits = seen.mm(router.t());
    mean += load_balance(logits, choose(logits, 2).order,
                         balance_rates({.experts = 4}))
              .item<double>()
            / 2;
  }
  EXPECT_NEAR(blocks.balance().item<double>(), 0.5 * mean, 1e-14);
  EXPECT_FALSE(blocks.balance().defined()) << "it is taken once";
  EXPECT_EQ(blocks.take_seen().first_places, (std::vector<double>{0, 0}));
  blocks.begin({.there = there, .is_scored = true});
  go();
  EXPECT_FALSE(blocks.balance().defined()) << "nobody descends";
  const auto found = blocks.take_seen();
  ASSERT_EQ(found.mean_of_first.size(), 2u);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const auto logits = seen.mm(x.routers[layer].t());
    const auto choice = choose(logits, 2);
    // Its score is among all four, and not among the two that are chosen.
    const auto score = at::softmax(logits, 1).select(1, 0).mean();
    EXPECT_NEAR(found.mean_of_first[layer], score.item<double>(), 1e-14);
    EXPECT_GT(apart(score, choice.weights.select(1, 0).mean()), 1e-3);
    EXPECT_NEAR(found.first_places[layer],
                static_cast<double>(
                  choice.order.select(1, 0).eq(0).sum().item<std::int64_t>())
                  / 4,
                1e-14);
  }
  EXPECT_EQ(blocks.take_seen().mean_of_first, (std::vector<double>{0, 0}));
  // Another pass begins without what the last one left.
  blocks.begin({});
  go();
  blocks.begin({.there = at::zeros({2, 3}, at::kBool)});
  go();
  EXPECT_FALSE(blocks.balance().defined()) << "nothing was there";
}

} // namespace troupe::models::routed_blocks_test
