// What CoMiGS and HETLoRA are where nothing is left of what they add: HOMLoRA,
// as its recipe has it, step for step.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/support/routed_shapes.hpp"

namespace troupe::test {

namespace {

using named_values = std::map<std::string, floats>;

/// Of a block, or of what a client keeps of one.
void add(const models::block_layout& block, std::span<const float> values,
         named_values& to) {
  ASSERT_EQ(values.size(), block.size);
  for (const auto& x : block.tensors) {
    const auto some = values.first(x.size());
    values = values.subspan(x.size());
    to[x.name] = {some.begin(), some.end()};
  }
}

floats joined(const models::block_layout& block, const named_values& from) {
  floats all;
  for (const auto& x : block.tensors) {
    const auto& some = from.at(x.name);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// What a visit leaves, by the names of tensors.
struct left {
  named_values values, offered, first_moments, second_moments;
};

left left_by(const routed_federation& of, const models::trained& x,
             const std::vector<std::string>& blocks,
             const std::string& optimiser) {
  left to;
  std::size_t at = 0;
  for (const auto& name : blocks) {
    const auto& block = *of.task().blocks.find(name);
    const auto moment = [&](const char* which) {
      return x.next.moments.at(optimiser + which)
        .own_view()
        .subspan(at, block.size);
    };
    add(block, x.next.blocks.at("left_" + name).own_view(), to.values);
    add(block, moment(".first"), to.first_moments);
    add(block, moment(".second"), to.second_moments);
    for (const auto& offer : x.parts)
      if (offer.block == block.id)
        add(block, *offer.delta, to.offered);
    at += block.size;
  }
  return to;
}

class one_expert : public over_shapes {};
class one_rank : public over_shapes {};

INSTANTIATE_TEST_SUITE_P(all, one_expert, ::testing::ValuesIn(routed_shapes),
                         name_of_shape);

INSTANTIATE_TEST_SUITE_P(all, one_rank, ::testing::ValuesIn(routed_shapes),
                         name_of_shape);

} // namespace

TEST_P(one_expert, is_homlora_over_the_same_layers_to_the_bit) {
  auto of_one = routed_setting_of("comigs");
  of_one.experts = {1};
  auto of_hom = routed_setting_of(
    "homlora", {{"adapted", 1}, {"alpha", 16}, {"alpha_over", 1}});
  for (auto* how : {&of_one.how, &of_hom.how}) {
    how->beta1 = 0.8;
    how->beta2 = 0.95;
  }
  routed_federation one{of_one}, hom{of_hom};
  std::shared_ptr<const models::client_state> of_first, of_second;
  for (const std::uint64_t seed : {5, 6}) {
    auto x = one.visit(1, seed);
    auto y = hom.visit(1, seed);
    named_values begin;
    for (const auto& fetched : x.fetched)
      add(*one.task().blocks.find(fetched.block), *fetched.values, begin);
    ASSERT_EQ(y.fetched.size(), 1u);
    y.fetched[0].values =
      share(joined(*hom.task().blocks.find(y.fetched[0].block), begin));
    x.state = of_first;
    y.state = of_second;
    const auto found = one.trainer().train(x);
    const auto expected = hom.trainer().train(y);
    ASSERT_TRUE(found) << found.error().context;
    ASSERT_TRUE(expected) << expected.error().context;
    EXPECT_EQ(found->loss, expected->loss);
    const auto a = left_by(one, *found, {"generalist", "attention"}, "experts");
    const auto b = left_by(hom, *expected, {"adapter"}, "adapter");
    // Two factors of each product, of two layers.
    EXPECT_EQ(a.values.size(), 2 * GetParam().products * 2);
    EXPECT_EQ(a.values, b.values);
    EXPECT_EQ(a.offered, b.offered);
    EXPECT_EQ(a.first_moments, b.first_moments);
    EXPECT_EQ(a.second_moments, b.second_moments);
    EXPECT_NE(a.values, begin);
    of_first = std::make_shared<const models::client_state>(found->next);
    of_second = std::make_shared<const models::client_state>(expected->next);
  }
}

// It has the blocks of one expert, and two optimisers in the place of one.
TEST_P(one_rank, of_hetlora_with_plain_attention_is_one_expert_to_the_bit) {
  auto of_one = routed_setting_of("comigs");
  of_one.experts = {1};
  const auto of_het = routed_setting_of("hetlora", {{"plain_attention", 1},
                                                    {"adapted", 1},
                                                    {"alpha", 16},
                                                    {"alpha_over", 1},
                                                    {"rank_min", 2},
                                                    {"penalty", 0}});
  routed_federation one{of_one}, het{of_het};
  std::shared_ptr<const models::client_state> of_first, of_second;
  for (const std::uint64_t seed : {5, 6}) {
    auto x = one.visit(1, seed);
    auto y = het.visit(1, seed);
    ASSERT_EQ(y.fetched.size(), x.fetched.size());
    named_values begin;
    for (const auto& fetched : x.fetched)
      add(*one.task().blocks.find(fetched.block), *fetched.values, begin);
    for (auto& fetched : y.fetched)
      fetched.values =
        share(joined(*het.task().blocks.find(fetched.block), begin));
    x.state = of_first;
    y.state = of_second;
    const auto found = one.trainer().train(x);
    const auto other = het.trainer().train(y);
    ASSERT_TRUE(found) << found.error().context;
    ASSERT_TRUE(other) << other.error().context;
    EXPECT_EQ(found->loss, other->loss);
    auto a = left_by(one, *found, {"generalist", "attention"}, "experts");
    auto b = left_by(het, *other, {"adapter"}, "adapter");
    const auto beside = left_by(het, *other, {"attention"}, "attention");
    b.values.insert(beside.values.begin(), beside.values.end());
    b.offered.insert(beside.offered.begin(), beside.offered.end());
    b.first_moments.insert(beside.first_moments.begin(),
                           beside.first_moments.end());
    EXPECT_EQ(a.values, b.values);
    EXPECT_EQ(a.offered, b.offered);
    EXPECT_EQ(a.first_moments, b.first_moments);
    EXPECT_NE(a.values, begin);
    of_first = std::make_shared<const models::client_state>(found->next);
    of_second = std::make_shared<const models::client_state>(other->next);
  }
}

TEST_P(one_rank, of_hetlora_whose_offers_weigh_the_same_is_homlora_to_the_bit) {
  const auto after = [](const std::string& method, const options& said,
                        bool weighs_one) {
    auto how = routed_setting_of(method, said);
    for (auto& block : how.method.blocks)
      if (weighs_one && block.name == "adapter")
        block.weight = weight_rule::one;
    routed_federation x{how};
    for (int times = 0; times < 3; ++times)
      x.round();
    return x.loop().values("adapter").copy();
  };
  const options whole{{"rank_min", 2}, {"penalty", 0}};
  const auto hom = after("homlora", {}, false);
  EXPECT_EQ(after("hetlora", whole, true), hom);
  EXPECT_NE(after("hetlora", whole, false), hom) << "by norms";
}

} // namespace troupe::test
