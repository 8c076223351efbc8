#include <gmock/gmock.h>

#include "tests/support/config_text.hpp"

namespace troupe::node {

TEST(residual_keys, say_how_wide_a_network_is_and_what_norms_it) {
  const auto x = read("rounds = 1\n[model]\nkind = 'resnet34'\nwidth = 8\n"
                      "norm = 'batch'\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE(x->notes.empty());
  EXPECT_EQ(x->x.model.kind, model_options::shape::resnet34);
  EXPECT_EQ(x->x.model.width, 8u);
  EXPECT_EQ(x->x.model.norm, model_options::norm_rule::batch);
  const auto plain = read("rounds = 1\n[model]\nkind = 'resnet18'\n");
  ASSERT_TRUE(plain) << plain.error().context;
  EXPECT_EQ(plain->x.model.width, 64u);
  EXPECT_EQ(plain->x.model.norm, model_options::norm_rule::group);
}

TEST(residual_keys, mean_nothing_to_other_networks) {
  const auto x = read("rounds = 1\n[model]\nkind = 'mlp'\nwidth = 8\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_THAT(x->notes, ::testing::ElementsAre(
                          "a.toml:4: 'model.width' has no effect: it "
                          "needs kind = \"resnet18\" or "
                          "\"resnet34\""));
}

TEST(residual_keys, have_bounds) {
  EXPECT_EQ(
    refusal("rounds = 1\n[model]\nkind = 'resnet18'\nwidth = 0\n"),
    "a.toml:4: 'model.width' must be an integer from 1 to 4096, found 0");
  EXPECT_EQ(refusal("rounds = 1\n[model]\nkind = 'resnet18'\nnorm = 'layer'\n"),
            "a.toml:4: 'model.norm' must be \"group\" or \"batch\", found "
            "\"layer\"");
}

} // namespace troupe::node
