// Which layers of a language model have adapters, of which ranks, what their
// products count, and whose a layer is that says what a row is.

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/adapters/rank_prefix.hpp"
#include "models/inner_setup.hpp"
#include "models/layout.hpp"
#include "models/shapes.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/paper_model.hpp"
#include "tests/support/small_language.hpp"

namespace troupe::models::adapted_layers_test {

namespace {

using test::paper_model;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// GPT-2 of 124 million weights, but for its tokens, which nobody adapts.
language_spec gpt2() {
  return {.kind = architecture_kind::gpt2,
          .vocabulary = 11,
          .context = 16,
          .width = 768,
          .layers = 12,
          .heads = 12,
          .key_heads = 12,
          .head_width = 64,
          .inner = 3072,
          .attention_bias = true,
          .inner_bias = true};
}

result<std::optional<inner_plans>>
planned(const std::string& method, const language_spec& of, options said = {},
        const std::vector<std::string>& layers = {}) {
  const paper_model model{of};
  return inner_plans_for(*policies::find_recipe(method), model, said, layers);
}

/// With a layer that says which of three a row is.
paper_model headed_model() {
  return paper_model{gpt2(), {{"head.weight", {3, 768}}, {"head.bias", {3}}}};
}

} // namespace

TEST(adapted_layers, of_what_comigs_is_compared_with_are_all_of_blocks) {
  // As many values beside feed-forward blocks as two experts of rank 8, and
  // rank 8 beside attention.
  for (const auto* method : {"ffa_lora", "fedsa_lora", "pcl"}) {
    const auto found = planned(method, gpt2());
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_EQ((*found)->adapter->size(), 1'474'560u + 442'368u) << method;
  }
  const auto two = planned("fdlora", gpt2());
  EXPECT_EQ((*two)->adapter->size(), 737'280u + 442'368u);
  EXPECT_EQ((*two)->own_adapter->size(), (*two)->adapter->size());
  const auto homogeneous = planned(
    "homlora", gpt2(), {{"adapted", 1}, {"rank", 32}, {"attention_rank", 8}});
  EXPECT_EQ((*homogeneous)->adapter->size(), 2'949'120u + 442'368u);
  const auto ranks_of = [](const options& said) {
    std::vector<std::size_t> all;
    const auto found =
      planned("ffa_lora", test::small_gpt2(), said, {"c_attn", "c_fc"});
    EXPECT_TRUE(found) << found.error().context;
    for (const auto& m : (*found)->adapter->matrices)
      all.push_back(m.rank);
    return all;
  };
  EXPECT_THAT(ranks_of({{"rank", 2}, {"attention_rank", 1}}),
              ElementsAre(1, 2, 1, 2));
  EXPECT_THAT(ranks_of({{"rank", 2}, {"attention_rank", 0}}),
              ElementsAre(2, 2, 2, 2));
}

TEST(adapted_layers, have_products_that_count_what_is_said) {
  const auto scales_of = [](const std::string& method, options said) {
    said.insert({{"rank", 4}, {"attention_rank", 2}, {"adapted", 1}});
    const auto plans = planned(method, test::small_gpt2(), said);
    EXPECT_TRUE(plans) << plans.error().context;
    std::vector<double> all;
    for (const auto* plan : {&(*plans)->adapter, &(*plans)->own_adapter})
      if (*plan) {
        all.push_back((**plan).matrices[0].scale); // Of attention,
        all.push_back((**plan).matrices[2].scale); // and of what follows it.
      }
    return all;
  };
  EXPECT_THAT(scales_of("homlora", {}), ElementsAre(1, 1));
  EXPECT_THAT(scales_of("homlora", {{"alpha", 8}}), ElementsAre(4, 2));
  EXPECT_THAT(scales_of("homlora", {{"alpha", 8}, {"alpha_over", 1}}),
              ElementsAre(8 / std::sqrt(2.0), 4));
  // A client's own of another rank counts as the common one.
  EXPECT_THAT(scales_of("pf2lora", {{"alpha", 8}, {"own_rank", 1}}),
              ElementsAre(4, 2, 4, 2));
}

TEST(adapted_layers, of_plain_attention_are_in_two_blocks) {
  const options all{
    {"adapted", 1}, {"rank", 32}, {"alpha", 16}, {"alpha_over", 1}};
  auto said = all;
  said.insert({{"plain_attention", 1}, {"attention_rank", 8}});
  const auto found = planned("hetlora", gpt2(), said);
  ASSERT_TRUE(found) << found.error().context;
  const auto& plans = **found;
  ASSERT_TRUE(plans.attention);
  EXPECT_EQ(plans.attention->size(), 442'368u); // Of CoMiGS's own.
  EXPECT_EQ(plans.attention->tensors,
            (*planned("comigs", gpt2()))->attention->tensors);
  EXPECT_EQ(plans.attention->matrices[0].scale, 16 / std::sqrt(8.0));
  EXPECT_EQ(plans.adapter->size(), 2'949'120u);
  EXPECT_EQ(plans.adapter->matrices[0].scale, 16 / std::sqrt(32.0));
  EXPECT_FALSE((*planned("hetlora", gpt2(), all))->attention);
  // More than others have, or as they do.
  said["attention_rank"] = 48;
  EXPECT_TRUE(planned("hetlora", gpt2(), said));
  said["attention_rank"] = 0;
  EXPECT_EQ((*planned("hetlora", gpt2(), said))->attention->matrices[0].rank,
            32u);
}

TEST(adapted_layers, of_plain_attention_are_refused_where_a_block_has_none) {
  const auto refused = [](options said,
                          const std::vector<std::string>& layers) {
    said["plain_attention"] = 1;
    const auto found = planned("hetlora", gpt2(), said, layers);
    return found ? "" : found.error().context;
  };
  const std::string parts = "'options.plain_attention' parts attention from "
                            "other layers, and ",
                    would = " adapted; options.adapted = \"blocks\", or "
                            "layers of both in model.adapt, would do";
  EXPECT_EQ(refused({}, {}), parts + "no others are" + would);
  EXPECT_EQ(refused({}, {"c_attn"}), parts + "no others are" + would);
  EXPECT_EQ(refused({}, {"c_fc"}), parts + "none of attention is" + would);
  EXPECT_EQ(refused({}, {"c_attn", "c_fc"}), "");
  EXPECT_THAT(refused({{"adapted", 1}, {"attention_rank", 769}}, {}),
              HasSubstr("'options.attention_rank' is 769"));
  EXPECT_THAT(refused({}, {"c_attn", "wte"}), HasSubstr("'wte'"));
}

TEST(adapted_layers, have_a_head_that_all_share_or_each_keeps) {
  const auto model = headed_model();
  const auto plans_of = [&](const options& said) {
    const auto found =
      inner_plans_for(*policies::find_recipe("pf2lora"), model, said, {});
    EXPECT_TRUE(found) << found.error().context;
    return **found;
  };
  const auto shared = plans_of({});
  EXPECT_EQ(shared.adapter->vectors.size(), 2u);
  EXPECT_TRUE(shared.own_adapter->vectors.empty());
  const auto kept = plans_of({{"head", 1}});
  EXPECT_TRUE(kept.adapter->vectors.empty());
  EXPECT_EQ(kept.own_adapter->vectors.size(), 2u);
  EXPECT_EQ(kept.own_adapter->size(), shared.own_adapter->size() + 3 * 769);
}

// As many labels as ranks, or more, make no ranks of it.
TEST(adapted_layers, have_a_head_that_is_whole_where_ranks_are_few) {
  const auto model = headed_model();
  for (const auto* name : {"hetlora", "flexlora"}) {
    const auto& method = *policies::find_recipe(name);
    const auto plans = inner_plans_for(method, model, {}, {});
    ASSERT_TRUE(plans) << plans.error().context;
    const auto blocks =
      make_layout(method, shapes_of(model, {}, {}, &**plans), {});
    ASSERT_TRUE(blocks) << blocks.error().context;
    const auto& block = *blocks->find("adapter");
    const std::size_t head = 3 * 769;
    EXPECT_EQ(prefix_size(block, 2), 2 * (block.size - head) / 12 + head);
  }
}

} // namespace troupe::models::adapted_layers_test
