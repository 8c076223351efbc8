// What publications count, from their models' sizes alone.

#include "models/language/costs.hpp"

#include <gtest/gtest.h>

#include <string>

#include "policies/catalogue.hpp"
#include "tests/support/paper_model.hpp"

namespace troupe::models::costs_test {

namespace {

using test::paper_model;

/// A model of whole heads.
language_spec spec_of(architecture_kind kind, std::uint32_t layers,
                      std::uint32_t width) {
  return {.kind = kind,
          .vocabulary = 50'257,
          .context = 1024,
          .width = width,
          .layers = layers,
          .heads = width / 64,
          .key_heads = width / 64,
          .head_width = 64,
          .inner = 4 * width,
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

struct planned_method {
  recipe method;
  inner_plans plans;
};

planned_method planned(const std::string& name, const language_spec& of,
                       const options& said = {},
                       const tensor_list& behind = {}) {
  const auto method =
    policies::with_options(*policies::find_recipe(name), said);
  EXPECT_TRUE(method) << method.error().context;
  const paper_model model{of, behind};
  auto plans = inner_plans_for(*method, model, said, {});
  EXPECT_TRUE(plans) << plans.error().context;
  return {*method, std::move(**plans)};
}

routed_costs routed(const std::string& name, const language_spec& of,
                    std::uint32_t experts, const options& said = {}) {
  const auto x = planned(name, of, said);
  return routed_costs_of(of, x.plans, x.method, experts);
}

constexpr double mebi = 1 << 20;

double mebibytes(std::uint64_t values) {
  return static_cast<double>(values * published_value_bytes) / mebi;
}

} // namespace

// comigs.md, 7.5: a device, beside the same experts averaged.
TEST(language_costs, of_a_generalist_and_a_specialist_are_as_published) {
  const auto x = routed("comigs", spec_of(architecture_kind::gpt2, 12, 768), 2);
  EXPECT_EQ(x.expert, 737'280u);
  EXPECT_EQ(x.router, 18'432u);
  EXPECT_EQ(x.router_operations(128), 4'718'592u); // 4.72 million.
  EXPECT_EQ(x.router_share(), 0.0125);
  EXPECT_EQ(mebibytes(x.router), 0.03515625);
  EXPECT_EQ(mebibytes(x.sent), 1.40625);
  EXPECT_EQ(mebibytes(x.averaged), 2.8125);
}

TEST(language_costs, count_what_stands_beside_attention_apart) {
  const auto x = routed("comigs", spec_of(architecture_kind::gpt2, 12, 768), 2);
  EXPECT_EQ(mebibytes(x.all_sent()), 2.25);
  EXPECT_EQ(mebibytes(x.all_averaged()), 3.65625);
  const auto of_llama = routed("comigs", llama(), 2);
  EXPECT_EQ(of_llama.router, 65'536u);
  EXPECT_EQ(mebibytes(of_llama.expert), 7.5);
  // 41.1 % less.
  EXPECT_NEAR(1
                - static_cast<double>(of_llama.all_sent())
                    / static_cast<double>(of_llama.all_averaged()),
              0.411, 0.0005);
}

TEST(language_costs, are_of_what_is_sent) {
  const auto gpt2 = spec_of(architecture_kind::gpt2, 12, 768);
  EXPECT_EQ(routed("comigs", gpt2, 4).sent, 737'280u);
  EXPECT_EQ(routed("comigs", gpt2, 4).router, 36'864u);
  EXPECT_EQ(routed("comigs_2g", gpt2, 2).sent, 1'474'560u);
  EXPECT_EQ(routed("comigs_2s", gpt2, 2).all_sent(), 0u);
  const auto own = routed("comigs", gpt2, 2, {{"attention", 1}});
  EXPECT_EQ(own.all_sent(), own.sent);
  // One alone has no router.
  EXPECT_EQ(routed("comigs", gpt2, 1).router, 0u);
}

TEST(language_costs, of_noisy_gates_are_of_both_maps) {
  const auto gpt2 = spec_of(architecture_kind::gpt2, 12, 768);
  EXPECT_EQ(routed("comigs", gpt2, 2, {{"gate", 1}}).router,
            12u * (2 * 768 + 2 * 2));
  EXPECT_EQ(routed("pfedmoe", gpt2, 4, {{"gate", 1}}).router,
            12u * (4 * 768 + 4 * 4));
  EXPECT_EQ(routed("comigs", gpt2, 1, {{"gate", 1}}).router, 0u);
  EXPECT_EQ(routed("comigs", llama(), 2, {{"gate", 1}}).router,
            16u * (2 * 2048 + 2 * 2));
}

// pf2lora.md, 3.3: queries and values of each layer.
TEST(language_costs, of_two_adapters_are_as_published) {
  struct row {
    language_spec of;
    double common, own;
    std::uint64_t sent, kept, total;
  };
  const auto roberta = [](std::uint32_t layers, std::uint32_t width) {
    return spec_of(architecture_kind::roberta, layers, width);
  };
  const auto gpt2 = [](std::uint32_t layers, std::uint32_t width) {
    return spec_of(architecture_kind::gpt2, layers, width);
  };
  for (const auto& x :
       {row{roberta(12, 768), 8, 2, 294'912, 73'728, 368'640},
        row{roberta(24, 1024), 8, 2, 786'432, 196'608, 983'040},
        row{roberta(12, 768), 8, 4, 294'912, 147'456, 442'368},
        row{gpt2(24, 1024), 4, 2, 393'216, 196'608, 589'824},
        row{gpt2(48, 1600), 4, 2, 1'228'800, 614'400, 1'843'200}}) {
    const auto found = adapter_costs_of(
      planned("pf2lora", x.of, {{"rank", x.common}, {"own_rank", x.own}})
        .plans);
    EXPECT_EQ(found.common, x.sent);
    EXPECT_EQ(found.own, x.kept);
    EXPECT_EQ(found.total(), x.total);
    EXPECT_EQ(found.head, 0u);
  }
  const auto alone = adapter_costs_of(
    planned("homlora", roberta(12, 768), {{"rank", 12}}).plans);
  EXPECT_EQ(alone.common, 442'368u);
  EXPECT_EQ(alone.own, 0u);
  const auto apart = adapter_costs_of(planned("hetlora", gpt2(12, 768),
                                              {{"plain_attention", 1},
                                               {"adapted", 1},
                                               {"rank", 16},
                                               {"attention_rank", 8}})
                                        .plans);
  EXPECT_EQ(apart.common, 1'474'560u + 442'368u);
}

TEST(language_costs, count_the_layer_that_says_what_a_row_is_apart) {
  const auto found = adapter_costs_of(
    planned("homlora", spec_of(architecture_kind::roberta, 12, 768),
            {{"rank", 8}}, {{"head.weight", {2, 768}}, {"head.bias", {2}}})
      .plans);
  EXPECT_EQ(found.common, 294'912u);
  EXPECT_EQ(found.head, 1'538u);
}

} // namespace troupe::models::costs_test
