// Layers by name: which names mean which layers, that only those are adapted,
// and what is said to a name that means none.

#include "models/adapters/layer_names.hpp"

#include <gtest/gtest.h>

#include "models/shapes.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::models::layer_names_test {

namespace {

using names = std::vector<std::string>;

/// Two blocks as language models have them.
const tensor_list blocks = {
  {"embedding.weight", {9, 4}},          {"encoder.0.query.weight", {4, 4}},
  {"encoder.0.query.bias", {4}},         {"encoder.0.key.weight", {4, 4}},
  {"encoder.0.value.weight", {4, 4}},    {"encoder.0.value.bias", {4}},
  {"encoder.0.norm.weight", {4}},        {"encoder.0.norm.bias", {4}},
  {"encoder.1.query.weight", {4, 4}},    {"encoder.1.query.bias", {4}},
  {"encoder.1.subquery.weight", {4, 4}}, {"output.weight", {3, 4}}};

names adapted(const tensor_list& model, const adapter_options& how) {
  names found;
  for (const auto& x : planned(model, how).tensors)
    found.push_back(x.name);
  return found;
}

std::string refusal(const tensor_list& model, const adapter_options& how) {
  const auto plan = plan_adapters(model, how);
  if (plan)
    return {};
  EXPECT_EQ(plan.error().code, errc::invalid_config);
  return plan.error().context;
}

} // namespace

TEST(layer_names, are_those_of_tensors_without_the_last_part) {
  EXPECT_EQ(layer_of("encoder.0.query.weight"), "encoder.0.query");
  EXPECT_EQ(layer_of("fc1.bias"), "fc1");
  EXPECT_EQ(layer_of("values"), "values");
}

TEST(layer_names, are_the_whole_or_its_last_parts) {
  for (const auto* name : {"encoder.0.query", "0.query", "query"})
    EXPECT_TRUE(goes_by("encoder.0.query", name)) << name;
  for (const auto* name : {"", ".", "uery", ".query", "1.query", "encoder",
                           "encoder.0", "key", "an.encoder.0.query"})
    EXPECT_FALSE(goes_by("encoder.0.query", name)) << name;
  EXPECT_TRUE(is_named("any", {}));
}

TEST(layer_names, say_what_is_adapted) {
  EXPECT_EQ(adapted(blocks, {.layers = {"value", "query"}}),
            (names{"encoder.0.query.weight.u", "encoder.0.query.weight.v",
                   "encoder.0.query.bias", "encoder.0.value.weight.u",
                   "encoder.0.value.weight.v", "encoder.0.value.bias",
                   "encoder.1.query.weight.u", "encoder.1.query.weight.v",
                   "encoder.1.query.bias"}));
  EXPECT_EQ(adapted(blocks, {.bias = false, .layers = {"1.query"}}),
            (names{"encoder.1.query.weight.u", "encoder.1.query.weight.v"}));
  EXPECT_EQ(adapted(blocks, {.layers = {"output", "output"}}),
            (names{"output.weight.u", "output.weight.v"}));
}

TEST(layer_names, hold_for_convolutions_biases_and_norms) {
  EXPECT_EQ(adapted(mixed, {.norm = true, .layers = {"first"}}),
            (names{"first.weight.u", "first.weight.v", "first.bias"}));
  EXPECT_EQ(adapted(mixed, {.norm = true, .layers = {"norm"}}),
            (names{"norm.weight", "norm.bias"}));
  EXPECT_EQ(adapted({{"values", {5}}}, {.layers = {"values"}}),
            names{"values"});
}

TEST(layer_names, of_all_layers_are_as_none) {
  const auto all = planned(mixed, {.rank = 2});
  const auto named = planned(mixed, {.rank = 2, .layers = {"first", "last"}});
  EXPECT_EQ(named.tensors, all.tensors);
  EXPECT_EQ(initial_adapter(named, 7), initial_adapter(all, 7));
}

// The published MLP: one rank of its first layer, and that layer's biases.
TEST(layer_names, make_adapters_as_small_as_their_layers) {
  const tensor_list mlp = {{"hidden1.weight", {200, 784}},
                           {"hidden1.bias", {200}},
                           {"output.weight", {10, 200}},
                           {"output.bias", {10}}};
  EXPECT_EQ(planned(mlp, {.layers = {"hidden1"}}).size(), 784u + 200 + 200);
  EXPECT_EQ(planned(mlp, {.layers = {"output"}}).size(), 200u + 10 + 10);
}

TEST(layer_names, leave_all_other_layers_as_they_are) {
  const auto plan = planned(blocks, {.rank = 2, .layers = {"0.value"}});
  const auto base = draw(plan.model_size, 1);
  const auto adapter = draw(plan.size(), 2);
  const auto arithmetic = cpu();
  adapter_mixture mix{plan, *arithmetic};
  floats out(base.size());
  constexpr double one[] = {1};
  ASSERT_TRUE(mix.compose(base, views{adapter}, one, out));
  const auto at = 9 * 4 + 16 + 4 + 16; // Where encoder.0.value begins.
  for (std::size_t j = 0; j < base.size(); ++j)
    EXPECT_EQ(out[j] != base[j], j >= at && j < at + 16 + 4) << j;
}

TEST(layer_names, without_a_layer_are_refused_with_the_layers_that_are) {
  EXPECT_EQ(refusal(mixed, {.layers = {"last", "lost"}}),
            "'model.adapt' has 'lost', and the model has no such layer; did "
            "you mean 'last'? 'first', 'norm', 'last', 'scale' would do");
  tensor_list deep;
  for (int i = 1; i <= 14; ++i)
    deep.push_back({"hidden" + std::to_string(i) + ".weight", {2, 2}});
  const auto said = refusal(deep, {.layers = {"hidden"}});
  EXPECT_TRUE(said.ends_with("'hidden11', 'hidden12' and 2 more would do"))
    << said;
}

TEST(layer_names, that_are_near_are_said_in_full_or_by_their_last_part) {
  const names deep{"encoder.0.query", "encoder.0.value", "encoder.1.query"};
  const std::string all = "'query', 'value', or one in full, as "
                          "'encoder.0.query', would do";
  EXPECT_EQ(names_like("querry", deep), "; did you mean 'query'? " + all);
  EXPECT_EQ(names_like("encoder.1.qeury", deep),
            "; did you mean 'encoder.1.query'? " + all);
  EXPECT_EQ(names_like("output", deep), "; " + all);
  // As long as a file makes it.
  const names one{std::string(1'000'000, 'a')};
  EXPECT_LT(names_like(one[0] + "b", one).size(), 200u);
}

TEST(layer_names, of_what_no_chosen_kind_adapts_are_refused) {
  const auto text = [](const std::string& name) {
    return "'model.adapt' has '" + name
           + "', which has nothing that the chosen kinds of adapters could "
             "change; "
             "linear layers and convolutions can be adapted, and "
             "normalisations with adapter_norm = 1";
  };
  EXPECT_EQ(refusal(mixed, {.layers = {"last", "norm"}}), text("norm"));
  EXPECT_EQ(
    refusal(mixed, {.convolution = kernel_split::none, .layers = {"first"}}),
    text("first"));
  // It is enough that one of the layers that go by a name is adapted.
  const tensor_list two = {{"a.x.weight", {2, 2, 3, 3}},
                           {"b.x.weight", {2, 2}}};
  EXPECT_EQ(adapted(two, {.convolution = kernel_split::none, .layers = {"x"}}),
            (names{"b.x.weight.u", "b.x.weight.v"}));
}

TEST(layer_names, of_a_model_without_any_are_refused_where_its_method_stands) {
  EXPECT_EQ(
    refusal({{"norm.weight", {4}}, {"norm.bias", {4}}},
            {.places = {.origin = "x.toml", .said = {{"method", "x.toml:2"}}}}),
    "x.toml:2: this model has no layer that the chosen kinds of adapters could "
    "change; linear layers and convolutions can be adapted");
}

TEST(layer_names, reach_the_check_of_ranks) {
  const recipe method{
    .name = "adapts", .summary = "in a test", .blocks = {{.name = "adapter"}}};
  const auto checked = [&](const names& layers) {
    const auto plan =
      adapters_for(method, blocks, {{"rank", 4}}, layers).value();
    return check_ranks(method, *plan).has_value();
  };
  EXPECT_TRUE(checked({"query"}));
  EXPECT_FALSE(checked({})) << "the output is three wide";
  EXPECT_FALSE(checked({"query", "output"}));
}

} // namespace troupe::models::layer_names_test
