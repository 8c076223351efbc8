// What a mixture or an adapter cannot mean: each is refused before anything is
// written, and says what would do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "node/task/workload.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test::mixture_refusals_test {

namespace {

using ::testing::HasSubstr;

/// Why an example cannot be begun with these changes.
std::string refusal(const std::string& example, const overrides& changes) {
  std::ifstream file{TROUPE_SOURCE_DIR "/deploy/examples/" + example};
  std::ostringstream text;
  text << file.rdbuf();
  const auto loaded = node::parse_config({text.str(), "x.toml"}, changes);
  if (!loaded)
    return loaded.error().context;
  const auto done = node::prepare(loaded->x, no_model);
  return done ? "accepted" : done.error().context;
}

const std::string two_levels = "pf2lora/synthetic.toml";
const std::string linear = "floral/synthetic_linear.toml";

} // namespace

TEST(mixture_refusals, of_ranks_hold_for_adapters_that_clients_keep) {
  EXPECT_EQ(refusal(two_levels, {}), "accepted");
  EXPECT_THAT(refusal(two_levels, {"own_rank=50"}), HasSubstr("'options.own_rank' is 50"));
  EXPECT_THAT(refusal(two_levels, {"own_rank=0"}),
              HasSubstr("'own_rank' must be an integer from 1 to 65536"));
}

TEST(mixture_refusals, of_a_truth_of_another_size) {
  EXPECT_THAT(refusal(two_levels, {"model.hidden=[20]"}),
              HasSubstr("'hidden'"));
}

TEST(mixture_refusals, of_words_and_shares_that_are_none) {
  EXPECT_THAT(refusal(two_levels, {"normal_start=3"}), HasSubstr("found 3"));
  EXPECT_THAT(refusal(linear, {"budget=2.5"}),
              HasSubstr("a number above 0 to below 1"));
  EXPECT_THAT(refusal(linear, {"convolution=4.5"}), HasSubstr("found 4.5"));
}

TEST(mixture_refusals, of_what_cannot_hold_where_clients_have_few_ranks) {
  const std::string het = "pf2lora/hetlora.toml";
  EXPECT_EQ(refusal(het, {}), "accepted");
  EXPECT_THAT(refusal(het, {"rank=0.5"}), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(refusal(het, {"clip_norm=1"}), HasSubstr("0 would do"));
  EXPECT_THAT(refusal(het, {"merge.rule=median"}),
              HasSubstr("rule = \"mean\" would do"));
  EXPECT_EQ(refusal(two_levels, {"merge.rule=median"}), "accepted");
}

// The low-rank task begins at zero, wherever an instance's draws begin.
TEST(mixture_refusals, of_models_that_begin_equal) {
  for (const auto* method : {"ensemble", "ifca", "fedem"})
    EXPECT_THAT(refusal(two_levels, {std::string{"method="} + method}),
                HasSubstr("equal models never part"));
  EXPECT_EQ(refusal(two_levels, {"method=ensemble_optimal"}), "accepted")
    << "nobody has to tell them apart";
  EXPECT_EQ(refusal(linear, {"method=ensemble"}), "accepted");
}

} // namespace troupe::test::mixture_refusals_test
