// Gates of two maps with noise: by hand, and in double against experts that are
// computed one token after the other.

#include "models/torch/language/noisy_gate.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.hpp"
#include "tests/support/small_blocks.hpp"

namespace troupe::models::noisy_gate_test {

namespace {

using test::apart;
using test::ruled;
using test::small_blocks;
using test::tensors;

constexpr std::string_view both[] = {test::tiny_gpt2, test::tiny_llama};

constexpr pass_draws some_draws{.seed = 11, .first_row = 0};

at::Tensor values(const std::vector<double>& x, std::int64_t columns) {
  return at::tensor(x, at::kDouble).reshape({-1, columns});
}

double variation(const std::vector<double>& x) {
  return squared_variation(at::tensor(x, at::kDouble)).item<double>();
}

/// That a normal number is below x deviations of the noise.
double chance_below(double x) {
  return std::erfc(-x / (gate_deviation * std::sqrt(2.))) / 2;
}

routing_options noisy(std::uint32_t experts, double balance = 0.01) {
  return {.experts = experts, .balance = balance, .gate = gate_kind::noisy};
}

/// Slopes of all that is learned, with zeros where there are none.
tensors slopes_of(const at::Tensor& y, const tensors& along) {
  auto all = torch::autograd::grad({y}, along, {}, {}, false, true);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!all[i].defined())
      all[i] = at::zeros(along[i].sizes(), at::kDouble);
  return all;
}

} // namespace

TEST(gate_noise, deviates_as_a_softplus_of_zero_and_its_floor) {
  EXPECT_NEAR(gate_deviation, std::log(1 + std::exp(0.)) + 0.01, 1e-15);
  EXPECT_NEAR(gate_deviation, 0.703, 2e-4);
  const auto noise =
    gate_noise(some_draws, 0, {.rows = 100, .tokens = 50, .experts = 4});
  EXPECT_NEAR(noise.mean().item<double>(), 0, 0.02);
  EXPECT_NEAR(noise.std().item<double>(), gate_deviation, 0.02);
}

TEST(gate_noise, is_of_a_seed_a_layer_and_a_row_of_the_batch) {
  const auto all =
    gate_noise(some_draws, 1, {.rows = 3, .tokens = 2, .experts = 2});
  random_stream draws{derive_seed(derive_seed(11, "gate", 1), "row", 2)};
  for (std::int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(all.reshape({3, 4})[2][i].item<double>(),
              gate_deviation * draws.normal());
  const auto last = gate_noise({.seed = 11, .first_row = 2}, 1,
                               {.rows = 1, .tokens = 2, .experts = 2});
  EXPECT_TRUE(at::equal(last, all.narrow(0, 4, 2)));
  for (const auto& other :
       {gate_noise(some_draws, 0, {.rows = 3, .tokens = 2, .experts = 2}),
        gate_noise({.seed = 12, .first_row = 0}, 1,
                   {.rows = 3, .tokens = 2, .experts = 2})})
    EXPECT_FALSE(other.eq(all).any().item<bool>());
}

TEST(squared_variation, is_what_a_hand_computes) {
  // Means of 2; squares of what is away from them add up to 2 and 6.
  EXPECT_NEAR(variation({3, 1}), 2. / 1 / 4, 1e-9);
  EXPECT_NEAR(variation({4, 2, 1, 1}), 6. / 3 / 4, 1e-9);
  EXPECT_EQ(variation({2, 2, 2, 2}), 0);
  EXPECT_NEAR(variation({30, 10}), variation({3, 1}), 1e-9);
}

TEST(chance_of_place, is_what_a_hand_computes) {
  const auto clean = values({2, 1, 0, -1}, 4);
  // Of the best two each of the first two has to be above the third, and the
  // others above the second.
  const auto quiet = chance_of_place(clean, clean, 2);
  const auto expected = values(
    {chance_below(2), chance_below(1), chance_below(-1), chance_below(-2)}, 4);
  EXPECT_LT(apart(quiet, expected), 1e-14);
  // What the others have drawn counts, and not one's own.
  const auto drawn = chance_of_place(clean, values({2, 1, 0.5, 3}, 4), 2);
  const auto then = values({chance_below(2 - 1), chance_below(1 - 2),
                            chance_below(0 - 2), chance_below(-1 - 1)},
                           4);
  EXPECT_LT(apart(drawn, then), 1e-14);
}

TEST(variation_balance, of_two_is_what_a_hand_computes_and_has_a_slope) {
  const auto logits =
    values({0.75, 0.25, 0.75, 0.25}, 2).log().requires_grad_();
  const auto at = [&](const at::Tensor& x) {
    return variation_balance(choose(x, 2).weights, x, x, 2);
  };
  // They count 1.5 and 0.5: away from 1 by a half, each.
  const auto loads = at(logits);
  EXPECT_NEAR(loads.item<double>(), 0.5, 1e-9);
  EXPECT_NEAR(at(values({0, 0, 1, 1}, 2)).item<double>(), 0, 1e-14);
  // 2 * 0.5 along what the first counts, less the same along the second, and
  // both change by p (1 - p).
  const auto slopes = torch::autograd::grad({loads}, {logits})[0];
  EXPECT_LT(apart(slopes, values({0.375, -0.375, 0.375, -0.375}, 2)), 1e-8);
}

TEST(variation_balance, of_four_is_what_a_hand_computes) {
  const auto logits = values({2, 1, 0, -1, 1, 2, 0, -1}, 4);
  const auto found =
    variation_balance(choose(logits, 2).weights, logits, logits, 2);
  // They count 1, 1, 0 and 0: all are away from 1/2 by a half.
  const auto of_weights = 4 * 0.25 / 3 / 0.25;
  // Chances add up to a + b, a + b, 2 - 2 b and 2 - 2 a, which are 1 on
  // average.
  const auto a = chance_below(2), b = chance_below(1);
  const auto of_chances = (2 * std::pow(a + b - 1, 2) + std::pow(1 - 2 * b, 2)
                           + std::pow(1 - 2 * a, 2))
                          / 3;
  EXPECT_NEAR(found.item<double>(), of_weights + of_chances, 1e-8);
}

TEST(noisy_gates, are_the_sum_of_what_chosen_experts_say) {
  constexpr std::int64_t rows = 2, tokens = 5;
  for (const auto config : both)
    for (const std::uint32_t experts : {2u, 4u, 8u}) {
      SCOPED_TRACE(std::string{config} + std::to_string(experts));
      const small_blocks x{config, noisy(experts)};
      auto blocks = x.testee();
      const auto states = ruled(5, {rows, tokens, x.spec.width});
      const auto flat = states.reshape({rows * tokens, -1});
      for (const bool draws : {true, false})
        for (std::size_t layer = 0; layer < 2; ++layer) {
          blocks.begin(draws ? pass_facts{.draws = some_draws} : pass_facts{});
          const auto ours = blocks.forward(*x.parts, x.terms(), layer, states)
                              .reshape(flat.sizes());
          const auto noise =
            gate_noise(some_draws, layer,
                       {.rows = rows, .tokens = tokens, .experts = experts});
          tensors one_by_one;
          for (std::int64_t i = 0; i < rows * tokens; ++i)
            one_by_one.push_back(x.slowly(layer, flat.narrow(0, i, 1),
                                          draws ? noise[i] : at::Tensor{}));
          const auto theirs = at::cat(one_by_one);
          EXPECT_LT(apart(ours, theirs), 1e-11);
          test::expect_near(slopes_of(test::weighed(ours), x.learned),
                            slopes_of(test::weighed(theirs), x.learned), 1e-9);
        }
    }
}

TEST(noisy_gates, add_up_balances_of_those_there) {
  for (const std::uint32_t experts : {2u, 4u}) {
    const small_blocks x{test::tiny_gpt2, noisy(experts, 0.5)};
    auto blocks = x.testee();
    const auto states = ruled(5, {2, 3, x.spec.width});
    auto there = at::ones({2, 3}, at::kBool);
    there.select(0, 1).narrow(0, 1, 2).fill_(false);
    blocks.begin({.there = there, .draws = some_draws});
    auto sum = at::zeros({}, at::kDouble);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      blocks.forward(*x.parts, x.terms(), layer, states);
      const auto clean =
        noisy_logits(states.reshape({6, -1}), x.routers[2 * layer],
                     x.routers[2 * layer + 1])
          .narrow(0, 0, 4);
      const auto drawn =
        clean
        + gate_noise(some_draws, layer,
                     {.rows = 2, .tokens = 3, .experts = experts})
            .narrow(0, 0, 4);
      sum = sum + variation_balance(choose(drawn, 2).weights, clean, drawn, 2);
    }
    const auto found = blocks.balance();
    ASSERT_TRUE(found.defined()) << "also of two experts";
    EXPECT_NEAR(found.item<double>(), 0.5 * sum.item<double>(), 1e-14);
    EXPECT_GT(slopes_of(found, {x.routers[0]})[0].abs().max().item<double>(),
              1e-4);
  }
}

} // namespace troupe::models::noisy_gate_test
