// Where adapters of a model count: composed, or inside its layers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "node/config/config.hpp"

namespace troupe::node::factors_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
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
  for (const auto* kind : {"cnn", "lenet", "vgg8", "resnet18"})
    EXPECT_THAT(refusal("floral", "factors = 'inside'\nkind = '"
                                    + std::string{kind} + "'\n"),
                HasSubstr("a.toml:4: factors = \"inside\" are beside products "
                          "of linear layers, and convolutions, scripts and "
                          "problems of their own have others: kind = \"mlp\" "
                          "or \"softmax\", or factors = \"composed\", would "
                          "do"));
  EXPECT_THAT(refusal("homlora", "factors = 'between'\n"),
              HasSubstr("factors'"));
}

} // namespace troupe::node::factors_test
