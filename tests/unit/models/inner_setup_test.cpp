// What of a recipe stands inside the layers of a language model.

#include "models/inner_setup.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/frozen_base.hpp"
#include "models/language/names.hpp"
#include "models/layout.hpp"
#include "models/shapes.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/paper_model.hpp"
#include "tests/support/small_language.hpp"

namespace troupe::models::inner_setup_test {

namespace {

using test::paper_model;
using ::testing::ElementsAre;

/// As published: GPT-2 of 124 million weights.
language_spec gpt2() {
  return {.kind = architecture_kind::gpt2,
          .vocabulary = 50'257,
          .context = 1024,
          .width = 768,
          .layers = 12,
          .heads = 12,
          .key_heads = 12,
          .head_width = 64,
          .inner = 3072,
          .attention_bias = true,
          .inner_bias = true};
}

/// Llama 3.2 of 1.2 billion.
language_spec llama() {
  return {.kind = architecture_kind::llama,
          .vocabulary = 128'256,
          .context = 128,
          .width = 2048,
          .layers = 16,
          .heads = 32,
          .key_heads = 8,
          .head_width = 64,
          .inner = 8192,
          .activation = activation_kind::silu,
          .rope = {.base = 500'000, .width = 64}};
}

result<std::optional<inner_plans>>
planned(const std::string& method, const language_spec& of, options said = {},
        const std::vector<std::string>& layers = {}) {
  const paper_model model{of};
  return inner_plans_for(*policies::find_recipe(method), model, said, layers);
}

std::string refused(const std::string& method, const language_spec& of,
                    options said = {},
                    const std::vector<std::string>& layers = {}) {
  const auto found = planned(method, of, std::move(said), layers);
  return found ? std::string{} : found.error().context;
}

std::vector<std::string> names_of(const inner_adapters& x) {
  std::vector<std::string> all;
  for (const auto& group : x.groups())
    all.push_back(group.name
                  + (group.expert ? ":" + std::to_string(*group.expert) : ""));
  return all;
}

/// A client's problem over a small model.
struct scene {
  explicit scene(const std::string& name,
                 std::vector<std::uint32_t> counts = {})
    : experts(std::move(counts)),
      method(*policies::find_recipe(name)),
      model(test::small_gpt2()) {
    how.method = with_defaults(method, {{"rank", 2}});
    plans = inner_plans_for(method, model, how.method, {}).value();
  }

  local_problem on() {
    return {.model = model,
            .arithmetic = *arithmetic,
            .method = method,
            .blocks = blocks,
            .how = how,
            .rate = 0.1,
            .rows = {},
            .inside = &*plans,
            .experts = experts};
  }

  std::vector<std::uint32_t> experts;
  recipe method;
  layout blocks;
  training_options how;
  paper_model model;
  std::unique_ptr<kernels::backend> arithmetic =
    kernels::make_backend({}).value();
  std::optional<inner_plans> plans;
};

} // namespace

TEST(inner_plans, have_the_published_numbers_of_values) {
  const auto of_gpt2 = planned("comigs", gpt2());
  ASSERT_TRUE(of_gpt2) << of_gpt2.error().context;
  EXPECT_EQ((*of_gpt2)->feed_forward->size(), 737'280u);
  EXPECT_EQ((*of_gpt2)->attention->size(), 442'368u);
  const auto of_llama = planned("comigs", llama());
  ASSERT_TRUE(of_llama) << of_llama.error().context;
  EXPECT_EQ((*of_llama)->feed_forward->size(), 3'932'160u);
  EXPECT_EQ((*of_llama)->attention->size(), 1'703'936u);
  EXPECT_FALSE((*of_llama)->adapter);
  const auto wider = planned("comigs", gpt2(), {{"rank", 16}});
  EXPECT_EQ((*wider)->feed_forward->size(), 1'474'560u);
}

TEST(inner_plans, say_how_tokens_are_routed) {
  const auto one = planned("comigs", gpt2());
  EXPECT_EQ((*one)->generalists, 1u);
  EXPECT_EQ((*one)->routing.balance, 0.01);
  EXPECT_FALSE((*one)->routing.printed_scale || (*one)->routing.even);
  EXPECT_EQ((*planned("comigs_2g", gpt2()))->generalists, 2u);
  EXPECT_EQ((*planned("comigs_2s", gpt2()))->generalists, 0u);
  const auto printed = planned("pfedmoe", gpt2(), {{"balance_scale", 1}});
  EXPECT_TRUE((*printed)->routing.printed_scale);
  EXPECT_EQ((*one)->routing.favoured, 0.5);
  const auto uniform = planned("comigs", gpt2(), {{"favoured", 0}});
  EXPECT_EQ((*uniform)->routing.favoured, 0);
}

TEST(inner_plans, say_which_gate_there_is_and_what_it_does_not_know) {
  EXPECT_EQ((*planned("comigs", gpt2()))->routing.gate, gate_kind::linear);
  for (const std::string method :
       {"comigs", "comigs_2g", "comigs_2s", "pfedmoe"}) {
    const auto noisy = planned(method, llama(), {{"gate", 1}});
    ASSERT_TRUE(noisy) << noisy.error().context;
    EXPECT_EQ((*noisy)->routing.gate, gate_kind::noisy);
  }
  EXPECT_EQ(refused("comigs", gpt2(), {{"gate", 1}, {"favoured", 0}}),
            "options.gate = \"noisy\" balances by variation, where 'favoured' "
            "says nothing; options.gate = \"linear\", or no 'favoured', would "
            "do");
  EXPECT_EQ(refused("pfedmoe", gpt2(), {{"gate", 1}, {"balance_scale", 1}}),
            "options.gate = \"noisy\" balances by variation, where "
            "'balance_scale' says nothing; options.gate = \"linear\", or no "
            "'balance_scale', would do");
}

TEST(inner_plans, have_the_layer_that_says_what_a_row_is) {
  const paper_model model{gpt2(),
                          {{"head.weight", {3, 768}}, {"head.bias", {3}}}};
  const auto found =
    inner_plans_for(*policies::find_recipe("pf2lora"), model, {}, {});
  ASSERT_TRUE(found) << found.error().context;
  const auto& plan = *(*found)->adapter;
  ASSERT_EQ(plan.vectors.size(), 2u);
  EXPECT_EQ(plan.vectors[0].size, 3u * 768);
  EXPECT_EQ(plan.tensors.back().name, "head.bias");
  EXPECT_TRUE((*found)->own_adapter->vectors.empty());
  const auto refused = inner_plans_for(*policies::find_recipe("comigs"), model,
                                       {}, {}, {.origin = "a.toml"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context,
            "a.toml: method 'comigs' learns nothing of the layer that says "
            "what a row is; data.task = \"language\" or \"describe\", or a "
            "method without experts, would do");
}

TEST(inner_plans, of_other_adapters_are_over_queries_and_values) {
  const auto fused = planned("homlora", gpt2());
  ASSERT_TRUE(fused) << fused.error().context;
  EXPECT_EQ((*fused)->adapter->matrices.size(), 12u);
  EXPECT_FALSE((*fused)->feed_forward || (*fused)->own_adapter);
  const auto apart = planned("pf2lora", llama());
  EXPECT_EQ((*apart)->adapter->matrices.size(), 32u);
  EXPECT_EQ((*apart)->own_adapter->matrices.size(), 32u);
  EXPECT_EQ((*apart)->own_adapter->matrices.front().rank, 2u);
  for (const auto& spec : {test::small_bert(), test::small_deberta()})
    EXPECT_EQ(
      (*planned("homlora", spec, {{"rank", 1}}))->adapter->matrices.size(), 4u);
  const auto named = planned("homlora", gpt2(), {}, {"c_proj"});
  EXPECT_EQ((*named)->adapter->matrices.size(), 24u);
  EXPECT_FALSE(*planned("fedavg", gpt2()));
}

TEST(inner_plans, are_refused_where_a_model_has_no_room_for_them) {
  EXPECT_EQ(refused("comigs", gpt2(), {{"rank", 769}}),
            "'options.rank' is 769, and layer 'transformer.h.0.mlp.c_fc' is of "
            "3072 x 768; at most 768 would do");
  EXPECT_EQ(refused("comigs", gpt2(), {{"rank", 768}}), "");
  const std::string all = "'c_attn', 'c_proj', 'c_fc', or one in full, as "
                          "'transformer.h.0.attn.c_attn', would do";
  const auto lacks = [&](const std::string& name) {
    return "'model.adapt' has '" + name
           + "', and the model has no such layer in its attention or its "
             "feed-forward blocks; "
           + (name == "q_proj" ? "did you mean 'c_proj'? " : "") + all;
  };
  EXPECT_EQ(refused("comigs", gpt2(), {}, {"wte"}), lacks("wte"));
  // Its queries are in the fused 'c_attn'.
  EXPECT_EQ(refused("comigs", gpt2(), {}, {"c_fc", "q_proj"}), lacks("q_proj"));
  // Nor do tables become adapters where one is for all layers.
  for (const auto* name : {"q_proj", "wte", "wpe", "ln_1", "transformer.wpe"})
    for (const auto* method : {"homlora", "hetlora", "pf2lora", "local_lora"})
      EXPECT_EQ(refused(method, gpt2(), {}, {"c_attn", name}), lacks(name));
  EXPECT_EQ(refused("comigs", gpt2(), {}, {"c_fc"}),
            "'model.adapt' has no layer of attention, and method 'comigs' "
            "adapts attention and feed-forward blocks; 'c_attn', 'c_proj', or "
            "one in full, as 'transformer.h.0.attn.c_attn', would do beside "
            "the others");
}

TEST(inner_plans, are_refused_of_ranks_that_no_layer_has_for_anybody) {
  for (const auto* method : {"homlora", "hetlora", "flexlora"}) {
    EXPECT_EQ(refused(method, gpt2(), {{"rank", 769}}),
              "'options.rank' is 769, and layer 'transformer.h.0.attn.c_attn' "
              "is of 2304 x 768; at most 768 would do")
      << method;
    EXPECT_EQ(refused(method, gpt2(), {{"rank", 768}}), "");
  }
  EXPECT_EQ(refused("hetlora", gpt2(), {{"attention_rank", 13}}),
            "'options.attention_rank' is 13, and an adapter of method "
            "'hetlora' has no more ranks than 'rank', which is 12; at most 12, "
            "or a larger 'rank', would do");
  EXPECT_EQ(refused("hetlora", gpt2(), {{"attention_rank", 12}}), "");
  EXPECT_EQ(refused("homlora", gpt2(), {{"attention_rank", 13}}), "");
}

// Llama's values are 512 wide, its queries 2048.
TEST(inner_plans, are_refused_by_the_key_and_the_most_that_would_do) {
  const auto values = [](const std::string& key, int rank) {
    return "'options." + key + "' is " + std::to_string(rank)
           + ", and layer 'model.layers.0.self_attn.v_proj' is of 512 x 2048; "
             "at most 512 would do";
  };
  EXPECT_EQ(refused("homlora", llama(), {{"rank", 3000}}),
            values("rank", 3000));
  EXPECT_EQ(refused("homlora", llama(), {{"attention_rank", 513}}),
            values("attention_rank", 513));
  EXPECT_EQ(refused("pf2lora", llama(), {{"own_rank", 513}}),
            values("own_rank", 513));
  const auto found = inner_plans_for(
    *policies::find_recipe("homlora"), paper_model{llama()}, {{"rank", 513}},
    {}, {.origin = "a.toml", .said = {{"options.rank", "a.toml:7"}}});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().context, "a.toml:7: " + values("rank", 513));
  const auto unsaid =
    inner_plans_for(*policies::find_recipe("homlora"), paper_model{llama()}, {},
                    {"o_prj"}, {.origin = "a.toml"});
  ASSERT_FALSE(unsaid);
  EXPECT_TRUE(unsaid.error().context.starts_with("a.toml: 'model.adapt' has "))
    << unsaid.error().context;
}

TEST(attach_for, attaches_what_a_client_has) {
  scene one{"comigs"};
  ASSERT_TRUE(attach_for(one.on(), 1));
  EXPECT_THAT(names_of(one.model), ElementsAre("generalist", "attention"));
  EXPECT_EQ(one.model.groups()[0].plan.matrices[0].scale, 16 / std::sqrt(2.0));
  ASSERT_TRUE(attach_for(one.on(), 3));
  EXPECT_THAT(names_of(one.model),
              ElementsAre("generalist:0", "attention", "specialist.0:1",
                          "specialist.1:2", "router"));
  EXPECT_EQ(one.model.routed->experts, 3u);
  scene two{"comigs_2g"};
  ASSERT_TRUE(attach_for(two.on(), 2));
  EXPECT_THAT(
    names_of(two.model),
    ElementsAre("generalist.0:0", "generalist.1:1", "attention", "router"));
  scene own{"comigs_2s"};
  ASSERT_TRUE(attach_for(own.on(), 2));
  EXPECT_THAT(names_of(own.model), ElementsAre("attention", "specialist.0:0",
                                               "specialist.1:1", "router"));
  scene plain{"pf2lora"};
  ASSERT_TRUE(attach_for(plain.on(), 0));
  EXPECT_THAT(names_of(plain.model), ElementsAre("adapter", "own_adapter"));
  EXPECT_EQ(plain.model.groups()[0].plan.matrices[0].scale, 1);
  EXPECT_FALSE(plain.model.routed);
  const auto none = attach_for(one.on(), 0);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().context,
            "a client of method 'comigs' has 0 experts; 1 or more would do");
}

// The top two of one are that one: nothing is to be chosen.
TEST(attach_for,
     needs_no_router_where_there_are_fewer_experts_than_are_chosen) {
  scene x{"comigs"};
  ASSERT_GT(x.plans->routing.top, 1u);
  ASSERT_TRUE(attach_for(x.on(), 1));
  ASSERT_TRUE(x.model.routed);
  EXPECT_EQ(x.model.routed->experts, 1u);
  EXPECT_THAT(names_of(x.model), ElementsAre("generalist", "attention"));
  EXPECT_FALSE(x.model.groups()[0].expert);
}

TEST(attach_for, leaves_what_is_there_and_switches_it_on) {
  scene x{"comigs"};
  ASSERT_TRUE(attach_for(x.on(), 2));
  x.model.switch_on(1, false);
  ASSERT_TRUE(attach_for(x.on(), 2));
  EXPECT_EQ(x.model.attached, 1u);
  EXPECT_TRUE(x.model.on[1]);
  ASSERT_TRUE(attach_for(x.on(), 4));
  EXPECT_EQ(x.model.attached, 2u);
  ASSERT_TRUE(attach_for(x.on(), 1));
  EXPECT_EQ(x.model.attached, 3u);
}

TEST(experts_of, go_by_the_turns_of_clients) {
  scene x{"comigs", {2, 4, 1}};
  const auto on = x.on();
  EXPECT_EQ(experts_of(on, {1}), 2u);
  EXPECT_EQ(experts_of(on, {2}), 4u);
  EXPECT_EQ(experts_of(on, {3}), 1u);
  EXPECT_EQ(experts_of(on, {4}), 2u);
  EXPECT_EQ(experts_of(on, {}), 1u) << "nobody has the generalist alone";
  scene unsaid{"comigs"};
  EXPECT_EQ(experts_of(unsaid.on(), {5}), 2u);
  scene both{"comigs_2g", {4}};
  EXPECT_EQ(experts_of(both.on(), {1}), 2u);
  EXPECT_EQ(experts_of(both.on(), {}), 2u);
}

TEST(experts_of, fit_into_memory) {
  const auto plans = planned("comigs", gpt2()).value().value();
  const double attention = 442'368 * 4 * 4;
  const double expert = 737'280 * 4 * 4;
  EXPECT_EQ(experts_within(plans, attention + expert - 1, 4, 8), 0u);
  EXPECT_EQ(experts_within(plans, attention + expert, 4, 8), 1u);
  EXPECT_EQ(experts_within(plans, attention + 4.5 * expert, 4, 8), 4u);
  EXPECT_EQ(experts_within(plans, attention + 40 * expert, 4, 8), 8u);
  EXPECT_EQ(experts_within(plans, attention + expert, 2, 8), 2u);
}

TEST(frozen_base, is_noted_whether_or_not_a_leg_names_it) {
  const paper_model model{test::small_gpt2()};
  const auto& list = adaptable(model);
  EXPECT_EQ(list, tensors_of(test::small_gpt2()));
  for (const std::string name : {"comigs", "homlora"}) {
    SCOPED_TRACE(name);
    const auto plans = planned(name, test::small_gpt2(), {{"rank", 2}});
    ASSERT_TRUE(plans) << plans.error().context;
    auto blocks = make_layout(
      policies::with_options(*policies::find_recipe(name), {{"rank", 2}})
        .value(),
      shapes_of(model, {}, {}, &**plans), {});
    ASSERT_TRUE(blocks) << blocks.error().context;
    note_base(*blocks, list, digest{1});
    ASSERT_EQ(blocks->frozen.size(), 1u);
    EXPECT_EQ(blocks->frozen[0].name, "model");
    EXPECT_EQ(blocks->frozen[0].size, size_of(list));
    EXPECT_EQ(blocks->find("model"), nullptr);
    const auto one = blocks->fingerprint();
    note_base(*blocks, list, digest{2});
    EXPECT_NE(blocks->fingerprint(), one);
    EXPECT_EQ(blocks->frozen.size(), 1u);
  }
}

TEST(frozen_base, makes_first_values_of_factors_alone) {
  paper_model model{test::small_gpt2()};
  const auto plans = planned("comigs_2g", test::small_gpt2(), {{"rank", 2}});
  ASSERT_TRUE(plans) << plans.error().context;
  const auto blocks = make_layout(*policies::find_recipe("comigs_2g"),
                                  shapes_of(model, {}, {}, &**plans), {})
                        .value();
  const auto values = initial_values(model, blocks, 5, {}, {}, &**plans);
  ASSERT_EQ(values.size(), 3u);
  EXPECT_NE(*values.at("generalist.0"), *values.at("generalist.1"));
  EXPECT_EQ(values.at("attention")->size(), (*plans)->attention->size());
}

TEST(needs_validation, says_whose_routers_look_at_it) {
  const auto of = [](const std::string& name, const options& said = {}) {
    return needs_validation(*policies::find_recipe(name), said);
  };
  EXPECT_TRUE(of("comigs"));
  EXPECT_TRUE(of("comigs_2s"));
  EXPECT_FALSE(of("comigs", {{"router_data", 1}}));
  EXPECT_FALSE(of("comigs_2g", {{"joint", 1}}));
  EXPECT_FALSE(of("pfedmoe"));
  EXPECT_FALSE(of("pf2lora"));
}

} // namespace troupe::models::inner_setup_test
