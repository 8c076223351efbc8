#include "models/torch/language/rotary.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "tests/support/tiny_language.hpp"

namespace troupe::models {

namespace {

using test::apart;

/// The same values at each place: [1 x 1 x tokens x width].
at::Tensor everywhere(std::uint32_t phase, std::int64_t tokens,
                      std::int64_t width) {
  auto row = at::empty({width}, at::kDouble);
  for (std::int64_t i = 0; i < width; ++i)
    row.data_ptr<double>()[i] =
      test::value_by_rule(phase, static_cast<std::uint32_t>(i));
  return row.expand({1, 1, tokens, width}).contiguous();
}

} // namespace

TEST(rotary_test, turns_a_value_with_the_one_half_a_width_behind_it) {
  const rotary by{{.base = 100, .width = 4}, 4, 3};
  const auto x = torch::tensor({1., 0., 0., 0.}).expand({1, 1, 3, 4});
  const auto turned = by.turn(x.to(at::kDouble)).reshape({3, 4});
  const auto expected = torch::tensor({{1., 0., 0., 0.},
                                       {std::cos(1.), 0., std::sin(1.), 0.},
                                       {std::cos(2.), 0., std::sin(2.), 0.}},
                                      at::kDouble);
  EXPECT_LT(apart(turned, expected), 1e-12);
  const auto second = torch::tensor({0., 1., 0., 0.}).expand({1, 1, 3, 4});
  // The second pair is slower by the root of the base.
  EXPECT_NEAR(by.turn(second.to(at::kDouble))[0][0][2][3].item<double>(),
              std::sin(0.2), 1e-12);
  const auto behind = torch::tensor({0., 0., 1., 0.}).expand({1, 1, 3, 4});
  const auto back =
    torch::tensor({-std::sin(1.), 0., std::cos(1.), 0.}, at::kDouble);
  EXPECT_LT(apart(by.turn(behind.to(at::kDouble))[0][0][1], back), 1e-12);
}

TEST(rotary_test, keeps_lengths) {
  const rotary by{{.base = 10000, .width = 8}, 8, 50};
  const auto x = everywhere(1, 50, 8);
  const auto squares = [](const at::Tensor& y) { return (y * y).sum({-1}); };
  EXPECT_LT(apart(squares(by.turn(x)), squares(x)), 1e-12);
}

TEST(rotary_test, makes_products_that_depend_on_distances_alone) {
  const rotary by{{.base = 50, .width = 8}, 8, 20};
  const auto query = by.turn(everywhere(1, 20, 8)).reshape({20, 8});
  const auto key = by.turn(everywhere(2, 20, 8)).reshape({20, 8});
  const auto scores = query.mm(key.t());
  EXPECT_GT(apart(scores[0], scores[0][0]), 0.01) << "places matter";
  EXPECT_LT(apart(scores.narrow(0, 1, 19).narrow(1, 1, 19),
                  scores.narrow(0, 0, 19).narrow(1, 0, 19)),
            1e-12);
}

TEST(rotary_test, leaves_what_is_behind_its_width) {
  const rotary by{{.base = 50, .width = 4}, 6, 5};
  const auto x = everywhere(1, 5, 6);
  const auto turned = by.turn(x);
  EXPECT_EQ(turned.sizes(), x.sizes());
  EXPECT_TRUE(torch::equal(turned.narrow(3, 4, 2), x.narrow(3, 4, 2)));
  EXPECT_FALSE(torch::equal(turned.narrow(3, 0, 4), x.narrow(3, 0, 4)));
}

TEST(rotary_test, turns_heads_as_they_lie) {
  const rotary by{{.base = 50, .width = 4}, 6, 5};
  at::manual_seed(3);
  const auto rows = at::randn({2, 5, 18}, at::kDouble).requires_grad_();
  const auto heads = rows.reshape({2, 5, 3, 6}).transpose(1, 2);
  const auto apart_in_memory = rows.detach()
                                 .reshape({2, 5, 3, 6})
                                 .permute({3, 0, 2, 1})
                                 .contiguous()
                                 .permute({1, 2, 3, 0});
  ASSERT_FALSE(heads.is_contiguous());
  ASSERT_NE(apart_in_memory.stride(3), 1);
  const auto turned = by.turn(heads);
  EXPECT_TRUE(turned.is_contiguous());
  EXPECT_TRUE(at::equal(turned, by.turn(heads.contiguous())));
  EXPECT_TRUE(at::equal(turned, by.turn(apart_in_memory)));
  // Turned back, each is what it was, and lies as it did.
  const auto back = torch::autograd::grad({turned}, {heads}, {turned})[0];
  EXPECT_LT(apart(back, heads), 1e-12);
  EXPECT_TRUE(back.transpose(1, 2).is_contiguous());
}

TEST(rotary_test, says_the_same_in_floats) {
  const rotary by{{.base = 50, .width = 8}, 8, 20};
  const auto x = everywhere(1, 20, 8);
  const auto turned = by.turn(x.to(at::kFloat));
  EXPECT_EQ(turned.scalar_type(), at::kFloat);
  EXPECT_LT(apart(turned.to(at::kDouble), by.turn(x)), 1e-6);
}

TEST(rotary_test, is_slower_by_a_factor_where_it_is_scaled) {
  const auto rates = turning_rates({.base = 100,
                                    .width = 4,
                                    .scaling = rope_spec::scaling_kind::linear,
                                    .factor = 4});
  ASSERT_EQ(rates.size(), 2u);
  EXPECT_DOUBLE_EQ(rates[0], 0.25);
  EXPECT_DOUBLE_EQ(rates[1], 0.025);
}

TEST(rotary_test, is_stretched_for_long_waves_as_llama_3_does_it) {
  // The waves are 6.3, 50.3 and 402.1 long; those below 16 stay, those above 64
  // are eight times as long.
  const auto rates = turning_rates({.base = 512,
                                    .width = 6,
                                    .scaling = rope_spec::scaling_kind::llama3,
                                    .factor = 8,
                                    .low = 1,
                                    .high = 4,
                                    .original_context = 64});
  ASSERT_EQ(rates.size(), 3u);
  EXPECT_DOUBLE_EQ(rates[0], 1);
  EXPECT_NEAR(rates[1], 0.02558685, 1e-7);
  EXPECT_NEAR(rates[2], 1. / 512, 1e-12);
}

TEST(rotary_test, is_stretched_along_a_ramp_over_pairs_as_yarn_does_it) {
  // 8 turns in 64 places are at pair 0.15, one is at pair 1.49.
  rope_spec how{.base = 512,
                .width = 8,
                .scaling = rope_spec::scaling_kind::yarn,
                .factor = 4,
                .low = 1,
                .high = 8,
                .original_context = 64};
  const auto rates = turning_rates(how);
  ASSERT_EQ(rates.size(), 4u);
  EXPECT_DOUBLE_EQ(rates[0], 1);
  EXPECT_NEAR(rates[1], 0.1313900649, 1e-10) << "half way from pair 0 to 2";
  EXPECT_NEAR(rates[2], 1. / (4 * std::pow(512., 0.5)), 1e-12);
  EXPECT_NEAR(rates[3], 1. / (4 * std::pow(512., 0.75)), 1e-12);
  how.whole_pairs = false;
  EXPECT_NEAR(turning_rates(how)[1], 0.1102890239, 1e-10);
}

TEST(rotary_test, makes_what_it_turns_as_long_as_is_said) {
  const rotary plain{{.base = 50, .width = 4}, 6, 5};
  const rotary by{{.base = 50, .width = 4, .length = 1.5}, 6, 5};
  const auto x = everywhere(1, 5, 6);
  EXPECT_LT(
    apart(by.turn(x).narrow(3, 0, 4), 1.5 * plain.turn(x).narrow(3, 0, 4)),
    1e-12)
    << "not as long as is said";
  EXPECT_TRUE(torch::equal(by.turn(x).narrow(3, 4, 2), x.narrow(3, 4, 2)));
}

} // namespace troupe::models
