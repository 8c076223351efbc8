#include "models/torch/language/attention.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <vector>

#include "tests/support/tiny_language.hpp"

namespace troupe::models::attention_test {

namespace {

using test::apart;

at::Tensor row_of(std::vector<double> values) {
  const auto tokens = static_cast<std::int64_t>(values.size());
  return torch::tensor(values, at::kDouble).reshape({1, 1, tokens, 1});
}

/// Two tokens, one head of one value: the scores are 0 and ln 3 for the first,
/// 0 and 2 ln 3 for the second.
attention_input two_tokens() {
  return {.query = row_of({1, 2}),
          .key = row_of({0, std::log(3.)}),
          .value = row_of({4, 8})};
}

/// Values without a meaning: [rows x heads x 5 tokens x 3].
at::Tensor drawn(std::uint32_t phase, std::int64_t rows, std::int64_t heads) {
  auto result = at::empty({rows, heads, 5, 3}, at::kDouble);
  auto* to = result.data_ptr<double>();
  for (std::int64_t i = 0; i < result.numel(); ++i)
    to[i] = 4 * test::value_by_rule(phase, static_cast<std::uint32_t>(i));
  return result;
}

} // namespace

TEST(attention, of_two_tokens_is_what_a_hand_computes) {
  auto x = two_tokens();
  EXPECT_LT(apart(attend(x), row_of({7, 7.6})), 1e-12);
  x.bias = torch::tensor({{0., -std::log(3.)}, {0., 0.}}, at::kDouble);
  EXPECT_LT(apart(attend(x), row_of({6, 7.6})), 1e-12);
}

TEST(attention, that_is_causal_sees_itself_and_what_is_before) {
  auto x = two_tokens();
  x.causal = true;
  EXPECT_LT(apart(attend(x), row_of({4, 7.6})), 1e-12);
}

TEST(attention, does_not_see_padding) {
  auto x = two_tokens();
  x.there = torch::tensor({true, false}).unsqueeze(0);
  EXPECT_LT(apart(attend(x).narrow(2, 0, 1), row_of({4})), 1e-12);
}

TEST(attention, of_padding_alone_is_a_number) {
  for (const bool causal : {false, true}) {
    auto x = two_tokens();
    x.there = torch::tensor({false, false}).unsqueeze(0);
    x.causal = causal;
    x.query.requires_grad_();
    const auto seen = attend(x);
    EXPECT_TRUE(seen.isfinite().all().item<bool>());
    (seen * 0).sum().backward();
    EXPECT_TRUE(x.query.grad().isfinite().all().item<bool>());
  }
}

TEST(attention, has_heads_of_queries_share_the_one_beside_them) {
  const attention_input shared{.query = drawn(1, 2, 4),
                               .key = drawn(2, 2, 2),
                               .value = drawn(3, 2, 2),
                               .causal = true};
  auto each = shared;
  const auto owners = torch::tensor({0, 0, 1, 1}, at::kLong);
  each.key = shared.key.index_select(1, owners);
  each.value = shared.value.index_select(1, owners);
  EXPECT_LT(apart(attend(shared), attend(each)), 1e-12);
}

TEST(attention, has_heads_that_are_parts_of_a_row) {
  const auto x = drawn(1, 2, 1).reshape({2, 5, 3});
  EXPECT_TRUE(torch::equal(out_of_heads(in_heads(x, 3)), x));
  EXPECT_TRUE(
    torch::equal(in_heads(x, 3).select(1, 2).select(2, 0), x.select(2, 2)));
}

} // namespace troupe::models::attention_test
