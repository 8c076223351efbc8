// Which batches a visit has, and whose steps its rate follows.

#include <gmock/gmock.h>

#include "tests/support/config_text.hpp"

namespace troupe::node {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

} // namespace

TEST(batch_keys, are_read_and_written) {
  const auto x = read("rounds = 1\n[training]\nbatches = 'drawn'\n"
                      "micro_batch = 4\n[training.schedule]\n"
                      "kind = 'cosine'\nlast = 0.1\nown_steps = 200\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_THAT(x->notes, ElementsAre());
  EXPECT_EQ(x->x.training.batches, models::batch_rule::drawn);
  EXPECT_EQ(x->x.training.micro_batch, 4u);
  EXPECT_EQ(x->x.training.own_steps, 200u);
  const auto again = read(write_config(x->x));
  ASSERT_TRUE(again) << again.error().context;
  EXPECT_TRUE(same(again->x, x->x));
  EXPECT_EQ(again->x.training.own_steps, 200u);
}

TEST(batch_keys, say_in_how_many_steps_a_rate_rises) {
  const std::string text = "rounds = 1\n[training.schedule]\n"
                           "kind = 'cosine'\nown_steps = 200\n";
  const auto x = read(text + "warmup_steps = 20\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.training.warmup_steps, 20u);
  const auto again = read(write_config(x->x));
  ASSERT_TRUE(again) << again.error().context;
  EXPECT_EQ(again->x.training.warmup_steps, 20u);
  EXPECT_EQ(
    refusal(text + "warmup_steps = 200\n"),
    "a.toml:5: 'training.schedule.warmup_steps' must be an integer from "
    "0 to 199, found 200");
  EXPECT_THAT(read("rounds = 1\n[training.schedule]\nkind = 'cosine'\n"
                   "warmup_steps = 20\n")
                ->notes,
              ElementsAre("a.toml:4: 'training.schedule.warmup_steps' has no "
                          "effect: it needs 'own_steps' above 0"));
}

TEST(batch_keys, are_not_written_where_they_are_not_said) {
  const auto text = write_config(read("rounds = 1")->x);
  for (const auto* key :
       {"batches", "micro_batch", "own_steps", "warmup_steps"})
    EXPECT_THAT(text, Not(HasSubstr(std::string{key} + " =")));
}

TEST(batch_keys, that_have_no_effect_are_noted) {
  const auto x = read("rounds = 1\n[training.schedule]\nown_steps = 200\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_THAT(x->notes,
              ElementsAre("a.toml:3: 'training.schedule.own_steps' has no "
                          "effect: it needs another 'kind' than "
                          "\"constant\""));
  EXPECT_EQ(x->x.training.own_steps, 0u);
  EXPECT_EQ(refusal("rounds = 1\nbatches = 'random'"),
            "a.toml:2: 'batches' must be \"epochs\", \"drawn\" or "
            "\"anywhere\", found \"random\"");
}

} // namespace troupe::node
