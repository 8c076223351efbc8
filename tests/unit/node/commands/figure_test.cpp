#include "node/commands/figure.hpp"

#include <sstream>

#include <gtest/gtest.h>

#include "node/commands/bench_gate.hpp"
#include "node/commands/bench_scrape.hpp"
#include "node/commands/bench_watching.hpp"

namespace troupe::node {
namespace {

figure named(const char* name, std::function<result<sample>()> once) {
  return {.name = name,
          .unit = "ms",
          .compared_with = "another",
          .bar = 2,
          .repetitions = 3,
          .once = std::move(once)};
}

TEST(figure, that_gives_none_leaves_the_others_as_they_are) {
  int tried = 0;
  std::vector<figure> all{
    named("broken",
          [&]() -> result<sample> {
            ++tried;
            return fail(errc::invalid_config, "its server did not begin");
          }),
    named("elsewhere",
          []() -> result<sample> {
            return fail(errc::unsupported, "too few files may be open");
          }),
    named("sound", []() -> result<sample> {
      return sample{3, 2};
    })};
  std::ostringstream progress;
  measure_all(all, progress);
  EXPECT_EQ(tried, 1) << "what fails once is not tried again";
  EXPECT_FALSE(all[0].holds());
  EXPECT_FALSE(all[0].is_left_out());
  EXPECT_NE(to_json(all[0]).dump().find("its server did not begin"),
            std::string::npos);
  EXPECT_TRUE(all[1].holds()) << "it is this machine's, not a miss";
  EXPECT_TRUE(all[1].is_left_out());
  EXPECT_NE(to_json(all[1]).dump().find("\"left_out\""), std::string::npos);
  EXPECT_TRUE(all[2].holds());
  EXPECT_EQ(all[2].ratios.size(), 3U);
}

TEST(figure, is_judged_by_the_best_of_each_side_or_by_its_median) {
  auto high = named("high_median", {});
  for (const auto& x : {sample{9, 3}, sample{1, 1}, sample{3, 1}})
    high.add(x);
  EXPECT_EQ(high.ratio(), 1.0);
  EXPECT_EQ(high.median_ratio(), 3.0);
  EXPECT_TRUE(high.holds()) << "the best is within the bar of 2";
  high.by_median = true;
  EXPECT_FALSE(high.holds()) << "its median is not";
  auto low = named("low_median", {});
  low.by_median = true;
  for (const auto& x : {sample{8, 4}, sample{5, 4}, sample{3, 1}})
    low.add(x);
  EXPECT_EQ(low.ratio(), 3.0);
  EXPECT_EQ(low.median_ratio(), 2.0);
  EXPECT_TRUE(low.holds());
  EXPECT_NE(to_json(low).dump().find("\"median\""), std::string::npos);
}

// `--only scrape` is of both. How long it takes is not for a busy machine.
TEST(scrape_figures, are_of_ten_thousand_clients_and_of_both_bars) {
  const auto all = scrape_figures();
  ASSERT_EQ(all.size(), 2U);
  for (const auto& x : all) {
    EXPECT_TRUE(x.name.starts_with("scrape_")) << x.name;
    const auto found = x.once();
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_EQ(x.bar, 1);
    EXPECT_EQ(found->compared, x.unit == "ms" ? 0.02 : 500'000);
    if (x.unit == "bytes") {
      EXPECT_LT(found->seconds, found->compared);
    }
  }
}

TEST(watching_figure, is_judged_by_the_median_of_nine) {
  const auto x = watching_figure();
  EXPECT_EQ(x.name, "watching");
  EXPECT_EQ(x.bar, 1.02);
  EXPECT_EQ(x.repetitions, 9);
  EXPECT_TRUE(x.by_median);
  EXPECT_FALSE(x.counts_rate());
}

// The joint step needs an example with its data. How long the others take is
// not for a busy machine.
TEST(gate_figures, are_of_a_step_of_scores_and_of_a_request) {
  const auto all = gate_figures({}, "no_such_example.toml");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, "joint_step");
  EXPECT_EQ(all[0].bar, 1.05);
  EXPECT_TRUE(all[0].by_median);
  EXPECT_FALSE(all[0].once());
  EXPECT_EQ(all[1].name, "gate_scores");
  EXPECT_EQ(all[2].name, "request");
  for (const auto at : {1u, 2u}) {
    const auto found = all[at].once();
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_EQ(all[at].bar, 1);
    EXPECT_EQ(found->compared, at == 1 ? 0.5e-3 : 20e-6);
    EXPECT_GT(found->seconds, 0);
  }
}

} // namespace
} // namespace troupe::node
