// Where adapters of a model count: composed, or inside its layers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/shapes.hpp"
#include "node/config/config.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node::factors_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using rule = model_options::factors_rule;

namespace {

result<loaded_config> read(std::string_view method, std::string_view model) {
  const auto text = "method = '" + std::string{method}
                    + "'\nrounds = 1\n[model]\n" + std::string{model};
  return parse_config({text, "a.toml"});
}

std::string refusal(std::string_view method, std::string_view model) {
  const auto x = read(method, model);
  return x ? std::string{} : x.error().context;
}

std::vector<std::string> methods_with_adapters() {
  std::vector<std::string> names;
  for (const auto& x : policies::catalogue())
    if (models::has_adapters(x))
      names.push_back(x.name);
  EXPECT_THAT(names, IsSupersetOf({"floral", "hetlora", "comigs", "pcl"}));
  return names;
}

} // namespace

TEST(factors, stand_inside_where_that_is_said) {
  for (const auto* method : {"floral", "local_adaptor", "pf2lora", "homlora"}) {
    const auto x = read(method, "factors = 'inside'\n");
    ASSERT_TRUE(x) << x.error().context;
    EXPECT_EQ(x->x.model.factors, rule::inside);
    const auto written = write_config(x->x);
    EXPECT_THAT(written, HasSubstr("factors = \"inside\"\n"));
    EXPECT_EQ(parse_config({written, "b.toml"})->x.model.factors, rule::inside);
    const auto otherwise = read(method, "");
    EXPECT_EQ(otherwise->x.model.factors, rule::composed);
    EXPECT_THAT(write_config(otherwise->x), Not(HasSubstr("factors =")));
  }
}

TEST(factors, are_noted_where_there_are_no_adapters) {
  const auto x = read("fedavg", "factors = 'inside'\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.model.factors, rule::composed);
  EXPECT_THAT(x->notes,
              ElementsAre("a.toml:4: 'model.factors' has no effect: method "
                          "'fedavg' attaches no adapters"));
}

TEST(factors, are_refused_inside_other_layers) {
  for (const auto& method : methods_with_adapters())
    for (const std::string kind : {"cnn", "lenet", "vgg8", "resnet18",
                                   "resnet34", "torchscript'\npath = 'a.pt"})
      EXPECT_EQ(
        refusal(method, "factors = 'inside'\nkind = '" + kind + "'\n"),
        "a.toml:4: factors = \"inside\" are beside products of linear layers, "
        "and convolutions and scripts have others: kind = \"mlp\" or "
        "\"softmax\", or factors = \"composed\", would do")
        << method << ", " << kind;
}

TEST(factors, are_refused_inside_what_is_written_by_hand) {
  const std::pair<std::string, std::string> problems[] = {
    {"regression", "clusters"},
    {"regression", "low_rank"},
    {"quadratic", "quadratic"}};
  for (const auto& method : methods_with_adapters())
    for (const auto& [kind, data] : problems) {
      auto model = "factors = 'inside'\nkind = '" + kind + "'\n";
      if (kind == "regression")
        model += "hidden = []\n";
      const auto others = "[data]\nkind = '" + data
                          + "'\n[clients]\nclients = 2\n"
                          + "clients_per_round = 2\n";
      EXPECT_EQ(refusal(method, model + others),
                "a.toml:4: factors = \"inside\" are beside products that torch "
                "computes, and kind = \"quadratic\" and \"regression\" are "
                "written out by hand: factors = \"composed\" would do")
        << method << ", " << data;
    }
}

TEST(factors, are_refused_where_nobody_knows_the_way) {
  EXPECT_THAT(refusal("homlora", "factors = 'between'\n"),
              HasSubstr("factors'"));
  EXPECT_THAT(refusal("homlora", "factors = 'inside'\nkind = 'language'\n"),
              HasSubstr("a.toml:4: factors = \"inside\" need not be said of a "
                        "language model: its adapters stand inside always"));
}

} // namespace troupe::node::factors_test
