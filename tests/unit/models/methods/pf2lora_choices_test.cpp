// What PF2LoRA's publication leaves open, and an option says: what offers
// weigh, and what becomes of moments between two visits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/adapter_site.hpp"
#include "tests/support/low_rank_federation.hpp"

namespace troupe::test::pf2lora_choices_test {

namespace {

using ::testing::Each;
using ::testing::FloatNear;
using ::testing::IsEmpty;

/// (a b + c d - 3)^2 with the common adapter (a, b) and the own (c, d).
std::shared_ptr<const models::regression_problem> scalar_problem() {
  auto x = *linear_problem(1, 1, 1, 1);
  x.train = x.test = {{1}, {3}};
  return std::make_shared<const models::regression_problem>(std::move(x));
}

adapter_site site_of(const std::string& method, options said) {
  models::training_options how;
  how.local_steps = 1;
  how.batch_size = 0;
  how.learning_rate = 0.1;
  how.optimiser = models::optimiser_kind::adamw;
  said.insert({"rank", 1});
  if (method == "pf2lora")
    said.insert({{"own_rank", 1}, {"inner_rate", 0.1}});
  return adapter_site{{.method = method,
                       .problem = scalar_problem(),
                       .how = how,
                       .said = std::move(said)}};
}

std::vector<std::uint32_t> rows_from(std::uint32_t first, std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), first);
  return rows;
}

/// The second visit's delta, one step after the first one's.
std::vector<float> second_delta(const adapter_site& site,
                                models::client_state& kept) {
  const auto first = site.trainer->train(site.visit({1, 1}, keeping({1, 1})));
  EXPECT_TRUE(first) << first.error().context;
  kept = first->next;
  const auto& moved = *first->parts.at(0).delta;
  const auto second = site.trainer->train(
    site.visit({1 + moved[0], 1 + moved[1]},
               std::make_shared<const models::client_state>(kept)));
  EXPECT_TRUE(second) << second.error().context;
  const auto& last = *second->parts.at(0).delta;
  return {last.begin(), last.end()};
}

} // namespace

// The hypergradients are -0.5824 and then -0.11931, both of them. A first step
// of AdamW is as long as its rate; a second one is by both moments, (0.09 g +
// 0.1 h) / 0.19 over the root of (0.000999 g^2 + 0.001 h^2) / 0.001999.
TEST(pf2lora_choices, begin_with_moments_of_the_last_visit_or_with_none) {
  models::client_state kept;
  EXPECT_THAT(second_delta(site_of("pf2lora", {}), kept),
              Each(FloatNear(0.080582f, 1e-4f)));
  EXPECT_EQ(kept.moments.size(), 2u);
  EXPECT_THAT(second_delta(site_of("pf2lora", {{"moments", 1}}), kept),
              Each(FloatNear(0.1f, 1e-5f)));
  EXPECT_THAT(kept.moments, IsEmpty());
  // It knows that it has trained, and would miss an adapter that it lost.
  EXPECT_TRUE(kept.counters.contains("adapter.steps"));
}

TEST(pf2lora_choices, are_those_of_what_it_is_compared_with) {
  for (const std::string method : {"homlora", "per_fedavg_lora", "hetlora"}) {
    SCOPED_TRACE(method);
    auto said = method == "hetlora" ? options{{"rank_min", 1}} : options{};
    models::client_state kept;
    second_delta(site_of(method, said), kept);
    EXPECT_EQ(kept.moments.size(), 2u);
    said["moments"] = 1;
    const auto second = second_delta(site_of(method, said), kept);
    EXPECT_THAT(kept.moments, IsEmpty());
    for (const auto x : second)
      EXPECT_NEAR(std::abs(x), 0.1f, 1e-4f);
  }
}

// Two thirds of the first client, which has twice the rows.
TEST(pf2lora_choices, weigh_offers_alike_or_by_the_examples_of_clients) {
  auto problem = models::make_low_rank_problem({.seed = 7});
  auto rows = *problem.rows;
  rows.clients.train = {rows_from(0, 600), rows_from(700, 300)};
  problem.rows = std::make_shared<const models::regression_problem>(rows);
  for (const auto* method : {"pf2lora", "homlora"})
    for (const double by_examples : {0, 1}) {
      SCOPED_TRACE(method);
      auto how = method == std::string{"pf2lora"} ? two_levels : one_level;
      how.said["weights"] = by_examples;
      low_rank_federation testee{problem, how, 1};
      testee.round();
      const auto left = [&](std::uint64_t client) {
        return testee.loop().state({client})->blocks.at("left_adapter");
      };
      const auto first = left(1), second = left(2);
      const auto merged = testee.loop().values("adapter").copy();
      const double share = by_examples > 0 ? 2.0 / 3 : 0.5;
      double apart = 0;
      for (std::size_t j = 0; j < merged.size(); ++j) {
        const double a = first.own_view()[j], b = second.own_view()[j];
        EXPECT_NEAR(merged[j], share * a + (1 - share) * b, 1e-5);
        apart = std::max(apart, std::abs(a - b));
      }
      EXPECT_GT(apart, 0.01);
    }
}

} // namespace troupe::test::pf2lora_choices_test
