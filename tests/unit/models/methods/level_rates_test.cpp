// Rates that follow a client's own steps, of methods with two levels: both
// levels have them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/adapter_site.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::test::level_rates_test {

namespace {

using models::floats;

constexpr double outer_rate = 0.01, inner_rate = 0.02;

/// Half a cosine down to a tenth, over three steps: 1, 0.775, 0.325.
constexpr double parts[] = {1, 0.775, 0.325};

/// What a client has after a visit.
struct left {
  floats common;
  floats own; ///< Empty: the method has none.
};

floats kept(const models::client_state& x, const char* name) {
  const auto found = x.blocks.find(name);
  if (found == x.blocks.end())
    return {};
  const auto values = found->second.own_view();
  return {values.begin(), values.end()};
}

/// All rows in each batch, so that visits of one step are steps of one visit.
models::training_options steps_of(std::uint32_t steps, double rate) {
  models::training_options how;
  how.local_steps = steps;
  how.batch_size = 0;
  how.learning_rate = rate;
  return how;
}

left trained(std::string_view method, const models::training_options& how,
             double inner, options said, const left& from,
             double progress = 0) {
  said["rank"] = 2;
  said["inner_rate"] = inner;
  const bool has_own = method == "pf2lora";
  if (has_own)
    said["own_rank"] = 1;
  const adapter_site site{{.method = method,
                           .problem = linear_problem(4, 3, 12, 5),
                           .how = how,
                           .said = std::move(said)}};
  auto x = has_own ? site.visit(from.common, keeping(from.own))
                   : site.visit(from.common);
  x.progress = progress;
  const auto out = site.trainer->train(x);
  EXPECT_TRUE(out) << out.error().context;
  if (!out)
    return from;
  return {.common = kept(out->next, "left_adapter"),
          .own = kept(out->next, "own_adapter")};
}

void expect_near(const floats& a, const floats& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t j = 0; j < a.size(); ++j)
    EXPECT_NEAR(a[j], b[j], 5e-6) << j;
}

void expect_apart(const floats& a, const floats& b, float least) {
  ASSERT_EQ(a.size(), b.size());
  float most = 0;
  for (std::size_t j = 0; j < a.size(); ++j)
    most = std::max(most, std::abs(a[j] - b[j]));
  EXPECT_GT(most, least);
}

struct ablation {
  std::string_view method;
  options said = {};
};

const ablation ablations[] = {{"pf2lora"},
                              {"pf2lora", {{"joint", 1}}},
                              {"pf2lora", {{"four_batches", 1}}},
                              {"per_fedavg_lora"},
                              {"per_fedavg_lora", {{"three_batches", 1}}}};

} // namespace

TEST(level_rates, follow_a_clients_own_steps_on_both_levels) {
  const left begin{.common = models::draw(14, 1), .own = models::draw(7, 2)};
  for (const auto& x : ablations) {
    SCOPED_TRACE(std::string{x.method}
                 + (x.said.empty() ? "" : ' ' + x.said.begin()->first));
    auto how = steps_of(3, outer_rate);
    how.schedule = policies::cosine_schedule{0.1};
    how.own_steps = 3;
    const auto found = trained(x.method, how, inner_rate, x.said, begin);
    // Steps of rates that are said.
    auto expected = begin, lower_at_first_rate = begin;
    for (const auto part : parts) {
      const auto one = steps_of(1, outer_rate * part);
      expected = trained(x.method, one, inner_rate * part, x.said, expected);
      lower_at_first_rate =
        trained(x.method, one, inner_rate, x.said, lower_at_first_rate);
    }
    expect_near(found.common, expected.common);
    expect_apart(found.common, lower_at_first_rate.common, 1e-4f);
    if (x.method != "pf2lora")
      continue;
    expect_near(found.own, expected.own);
    expect_apart(found.own, lower_at_first_rate.own, 1e-3f);
  }
}

// All of a visit has one rate on either level.
TEST(level_rates, follow_the_run_where_nobody_counts_own_steps) {
  const left begin{.common = models::draw(14, 1), .own = models::draw(7, 2)};
  auto how = steps_of(3, outer_rate);
  how.schedule = policies::cosine_schedule{0.1};
  const auto found = trained("pf2lora", how, inner_rate, {}, begin, 1. / 3);
  const auto expected = trained("pf2lora", steps_of(3, outer_rate * parts[1]),
                                inner_rate * parts[1], {}, begin);
  expect_near(found.common, expected.common);
  expect_near(found.own, expected.own);
}

} // namespace troupe::test::level_rates_test
