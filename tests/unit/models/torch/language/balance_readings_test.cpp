// What a balance of loads is of, where somebody reads it as the authors of
// CoMiGS do.

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/small_blocks.hpp"

namespace troupe::models::balance_readings_test {

namespace {

using test::ruled;
using test::small_blocks;

/// Of the first of two layers, so half of it counts.
double balance_of(const small_blocks& x, const at::Tensor& rows) {
  auto blocks = x.testee();
  blocks.forward(*x.parts, x.terms(), 0, rows);
  return 2 * blocks.balance().item<double>();
}

/// A token of which routers say 2, 1, -1 and 5.
at::Tensor one_token(const small_blocks& x) {
  const c10::NoGradGuard no_grad;
  const std::vector<double> said{2, 1, -1, 5};
  x.routers[0].select(1, 0).copy_(at::tensor(said, at::kDouble));
  return at::eye(x.spec.width, at::kDouble).narrow(0, 0, 1);
}

} // namespace

// It goes to the last one and to the first; rates are 1, 3, 3 and 3.
TEST(balance_readings, may_have_zeros_in_place_of_whom_nobody_chose) {
  const double e1 = std::exp(1.), e2 = std::exp(2.), e5 = std::exp(5.);
  const small_blocks all{test::tiny_gpt2, {.experts = 4, .balance = 1}};
  EXPECT_NEAR(balance_of(all, one_token(all)),
              (e2 + 3 * e5) / (e2 + e1 + 1 / e1 + e5), 1e-14);
  const small_blocks kept{
    test::tiny_gpt2, {.experts = 4, .balance = 1, .balance_of_kept = true}};
  EXPECT_NEAR(balance_of(kept, one_token(kept)),
              (e2 + 3 * e5) / (e2 + 1 + 1 + e5), 1e-14);
}

TEST(balance_readings, may_be_of_what_comes_out_of_a_block) {
  const auto rates = balance_rates({.experts = 4});
  for (const bool kept : {false, true}) {
    const small_blocks x{test::tiny_llama,
                         {.experts = 4,
                          .balance = 1,
                          .balance_on_output = true,
                          .balance_of_kept = kept}};
    auto blocks = x.testee();
    const auto y =
      blocks.forward(*x.parts, x.terms(), 0, ruled(5, {10, x.spec.width}));
    auto logits = y.mm(x.routers[0].t());
    const auto order = choose(logits, 2).order;
    if (kept)
      logits =
        at::zeros_like(logits).scatter(1, order, logits.gather(1, order));
    const auto found = blocks.balance();
    EXPECT_NEAR(2 * found.item<double>(),
                load_balance(logits, order, rates).item<double>(), 1e-14);
    // So factors of that layer have a part in it.
    const auto slopes =
      torch::autograd::grad({found}, x.learned, {}, {}, false, true);
    EXPECT_TRUE(std::any_of(slopes.begin(), slopes.begin() + 24,
                            [](const at::Tensor& z) { return z.defined(); }));
  }
}

TEST(balance_readings, change_nothing_for_who_is_scored) {
  const small_blocks x{test::tiny_gpt2,
                       {.experts = 4, .balance = 1, .balance_on_output = true}};
  auto blocks = x.testee();
  blocks.begin({.is_scored = true});
  blocks.forward(*x.parts, x.terms(), 0, ruled(5, {10, x.spec.width}));
  EXPECT_FALSE(blocks.balance().defined());
}

} // namespace troupe::models::balance_readings_test
