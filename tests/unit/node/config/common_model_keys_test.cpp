// What a configuration says of a model that nobody trains.

#include <gmock/gmock.h>

#include "tests/support/config_text.hpp"

namespace troupe::node::common_model_keys_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// With a common model, and without one.
const method_list& two_methods() {
  static const recipe plain{.name = "plain", .summary = "one model"};
  static const recipe gated{
    .name = "gated",
    .summary = "over a common model",
    .blocks = {{.name = "common", .where = scope::frozen}, {.name = "gate"}}};
  static const method_list all{{&gated, &plain}, {}};
  return all;
}

result<loaded_config> said(std::string_view text,
                           const std::vector<std::string>& changes = {}) {
  return parse_config({text, "a.toml"}, changes, two_methods());
}

std::string refused(std::string_view text) {
  const auto x = said(text);
  return x ? std::string{} : x.error().context;
}

constexpr const char* with_both = R"(rounds = 1
common = "runs/trained"
[model]
kind = "mlp"
hidden = [8]
[common_model]
hidden = [64, 32]
)";

} // namespace

TEST(common_model_keys, say_where_its_values_are_and_what_it_is) {
  const auto x = said(with_both);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_THAT(x->notes, ElementsAre());
  EXPECT_EQ(x->x.common, "runs/trained");
  EXPECT_THAT(x->x.model.hidden, ElementsAre(8));
  ASSERT_TRUE(x->x.common_model);
  EXPECT_EQ(x->x.common_model->kind, model_options::shape::mlp);
  EXPECT_THAT(x->x.common_model->hidden, ElementsAre(64, 32));
}

TEST(common_model_keys, mean_the_kind_of_the_others_where_none_is_said) {
  const auto x = said("rounds = 1\ncommon = 'x'\ndata.kind = 'clusters'\n"
                      "model.kind = 'regression'\n",
                      {"common_model.hidden=[4]"});
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.common_model->kind, model_options::shape::regression);
  const auto other = said("rounds = 1\ncommon = 'x'\n", {"common_model=cnn"});
  ASSERT_TRUE(other) << other.error().context;
  EXPECT_EQ(other->x.common_model->kind, model_options::shape::cnn);
}

TEST(common_model_keys, are_written_and_read_back) {
  const auto x = said(with_both);
  ASSERT_TRUE(x) << x.error().context;
  const auto text = write_config(x->x);
  EXPECT_THAT(text, HasSubstr("common = \"runs/trained\"\n"));
  EXPECT_THAT(text, HasSubstr("[common_model]\nkind = \"mlp\"\n"
                              "hidden = [64, 32]\n"));
  const auto again = said(text);
  ASSERT_TRUE(again) << again.error().context;
  EXPECT_EQ(write_config(again->x), text);
}

// What is written of a run of before there were any is as it was.
TEST(common_model_keys, are_not_written_where_they_are_not_said) {
  const auto x = said("rounds = 1\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_FALSE(x->x.common_model);
  EXPECT_THAT(write_config(x->x), Not(HasSubstr("common")));
}

TEST(common_model_keys, are_noted_where_values_are_those_of_a_seed) {
  const auto x = said("rounds = 1\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_THAT(x->notes,
              ElementsAre("'common' is not given: the common model of method "
                          "'gated' has values from the seed; common = FOLDER "
                          "of a run that trained it would do"));
}

// One file serves a method and what it is compared with.
TEST(common_model_keys, have_no_effect_on_methods_without_one) {
  const auto x = said(with_both, {"method=plain"});
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_THAT(x->notes,
              ElementsAre("a.toml:2: 'common' has no effect: method 'plain' "
                          "has no common model",
                          "a.toml:7: 'common_model.hidden' has no effect: "
                          "method 'plain' has no common model"));
  EXPECT_EQ(x->x.common, "");
  EXPECT_FALSE(x->x.common_model);
}

TEST(common_model_keys, are_refused_where_nothing_can_be_made_of_them) {
  EXPECT_EQ(refused("rounds = 1\ncommon_model.kind = 'quadratic'\n"),
            "a.toml:2: common_model.kind = \"quadratic\" and data.kind = "
            "\"quadratic\" need each other");
  EXPECT_EQ(refused("rounds = 1\ncommon_model.kind = 'regression'\n"),
            "a.toml:2: common_model.kind = \"regression\" and data.kind = "
            "\"clusters\" or \"low_rank\" need each other");
  EXPECT_EQ(refused("rounds = 1\ndata.kind = 'low_rank'\nclients = 2\n"
                    "model.kind = 'regression'\nmodel.hidden = []\n"
                    "common_model.hidden = [3]\n"),
            "a.toml:6: data.kind = \"low_rank\" is of one matrix: "
            "'common_model.hidden' must be []");
  EXPECT_EQ(refused("rounds = 1\ncommon_model.kind = 'torchscript'\n"),
            "a.toml:2: common_model.kind = \"torchscript\" needs the 'path' of "
            "a module");
  EXPECT_THAT(refused("rounds = 1\n[common_model]\ninit_scale = 2\n"),
              HasSubstr("unknown key 'common_model.init_scale'"));
}

} // namespace troupe::node::common_model_keys_test
