#include "models/adapters/factor_halves.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/adapters/head_vectors.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::models::factor_halves_test {

namespace {

constexpr auto inner = factor_half::inner;
constexpr auto outer = factor_half::outer;

/// A linear layer with a bias: u, v and a vector.
adapter_plan plan() {
  return planned({{"last.weight", {3, 6}}, {"last.bias", {3}}}, {.rank = 2});
}

} // namespace

TEST(factor_halves, are_the_factors_of_one_side_and_all_vectors) {
  const auto of = plan();
  const auto names = [](const tensor_list& xs) {
    std::string text;
    for (const auto& x : xs)
      text += x.name + " ";
    return text;
  };
  EXPECT_EQ(names(tensors_of(of.tensors, inner)), "last.weight.v last.bias ");
  EXPECT_EQ(names(tensors_of(of.tensors, outer)), "last.weight.u last.bias ");
  EXPECT_EQ(size_of(tensors_of(of.tensors, inner)), 2u * 6 + 3);
  EXPECT_EQ(size_of(tensors_of(of.tensors, outer)), 2u * 3 + 3);
}

TEST(factor_halves, have_a_head_as_vectors) {
  const tensor_list model{
    {"last.weight", {3, 6}}, {"head.weight", {2, 3}}, {"head.bias", {2}}};
  auto of = planned(model, {.rank = 2, .bias = false, .layers = {"last"}});
  add_head(model, of);
  EXPECT_EQ(size_of(tensors_of(of.tensors, inner)), 2u * 6 + 8);
  EXPECT_EQ(size_of(tensors_of(of.tensors, outer)), 2u * 3 + 8);
  const auto whole = draw(of.size(), 1);
  for (const auto half : {inner, outer}) {
    floats again(of.size());
    scatter(of, half, gather(of, half, whole), again);
    EXPECT_TRUE(std::equal(whole.end() - 8, whole.end(), again.end() - 8));
  }
}

TEST(factor_halves, come_back_to_where_they_were) {
  const auto of = plan();
  const auto whole = draw(of.size(), 1);
  floats again(of.size());
  scatter(of, inner, gather(of, inner, whole), again);
  EXPECT_NE(again, whole);
  scatter(of, outer, gather(of, outer, whole), again);
  EXPECT_EQ(again, whole);
}

TEST(factor_halves, leave_the_other_one_as_it_is) {
  const auto of = plan();
  const auto whole = draw(of.size(), 1);
  for (const auto half : {inner, outer}) {
    auto changed = whole;
    scatter(of, half, floats(size_of(tensors_of(of.tensors, half)), 7.f),
            changed);
    const auto& m = of.matrices.at(0);
    for (std::size_t j = 0; j < of.size(); ++j) {
      const bool is_u = j >= m.u_at && j < m.u_at + 2 * 3;
      const bool is_v = j >= m.v_at && j < m.v_at + 2 * 6;
      const bool stays = half == inner ? is_u : is_v;
      EXPECT_EQ(changed[j], stays ? whole[j] : 7.f) << j;
    }
  }
}

TEST(factor_halves, of_all_kinds_of_layers_are_the_whole_together) {
  const auto of = planned(mixed, {.rank = 2, .norm = true});
  std::size_t vectors = 0;
  for (const auto& x : of.vectors)
    vectors += x.size;
  EXPECT_GT(vectors, 0u);
  EXPECT_EQ(size_of(tensors_of(of.tensors, inner))
              + size_of(tensors_of(of.tensors, outer)),
            of.size() + vectors);
}

TEST(factor_halves, begin_as_the_adapter_would) {
  const auto of = plan();
  const auto whole = initial_adapter(of, derive_seed(3, "adapter", 0));
  EXPECT_EQ(initial_half(of, inner_factors_family, 3),
            gather(of, inner, whole));
  EXPECT_EQ(initial_half(of, outer_factors_family, 3),
            gather(of, outer, whole));
  EXPECT_EQ(initial_half(of, line_family, 3), whole);
  EXPECT_FALSE(initial_half(of, "adapter", 3));
}

TEST(factor_halves, are_frozen_where_the_recipe_says_so) {
  const recipe method{
    .name = "x",
    .summary = "",
    .blocks = {{.name = "inner_factors", .where = scope::frozen},
               {.name = "outer_factors"},
               {.name = "model", .where = scope::frozen}}};
  const auto found = frozen_factors(method, plan(), 3);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at("inner_factors").copy(),
            initial_half(plan(), inner_factors_family, 3));
  EXPECT_TRUE(frozen_factors(method, {}, 3).empty());
}

} // namespace troupe::models::factor_halves_test
