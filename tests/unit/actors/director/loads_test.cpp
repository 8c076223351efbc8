#include "actors/director/loads.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "core/limits.hpp"

namespace troupe::actors {

namespace {

/// A shared block and four experts, of which clients disclose a mixture.
recipe mixed() {
  return {.name = "mixed",
          .summary = {},
          .blocks = {{.name = "model"},
                     {.name = "adapter", .where = scope::expert, .count = 4}},
          .legs = {{.fetch = {{"model"}, {"adapter"}}}},
          .roles = {{.procedure = {"mixed_sgd"}}},
          .disclosures = {{.name = "pi", .count_max = 4, .sum = 1},
                          {.name = "picked", .count_max = 4, .max = 3}}};
}

models::layout layout_of(const recipe& method) {
  return *models::make_layout(
    method, {{"model", {{"w", {2}}}}, {"adapter", {{"w", {2}}}}}, {});
}

class load_of_experts : public testing::Test {
protected:
  line_id line(const std::string& name) const {
    return blocks.find(name)->line;
  }

  /// Of a client with ten examples.
  void visit(std::vector<double> mixture,
             const std::vector<std::string>& offered = {"model"}) {
    messages::visit_loaded x{
      .visit = {{1}, {1}}, .examples = 10, .blocks = {}, .disclosures = {}};
    for (const auto& name : offered)
      x.blocks.push_back(blocks.find(name)->id);
    if (!mixture.empty())
      x.disclosures = {{.index = 0, .values = std::move(mixture)}};
    testee.add(x);
  }

  const recipe method = mixed();
  const models::layout blocks = layout_of(method);
  loads testee{method, blocks};
};

} // namespace

TEST_F(load_of_experts, is_there_from_the_start) {
  const auto x = testee.status();
  EXPECT_EQ(x.experts.size(), 4u);
  EXPECT_FALSE(x.experts.contains(line("model")));
  EXPECT_EQ(x.active.at("adapter"), 0u);
  ASSERT_EQ(x.entropies.size(), 1u) << "what adds up to nothing is no mixture";
  EXPECT_EQ(x.entropies.at("pi").count, 0u);
}

TEST_F(load_of_experts, is_by_the_mixture_that_a_visit_discloses) {
  visit({0.75, 0.25, 0, 0});
  visit({0.25, 0.25, 0.5, 0});
  const auto x = testee.status();
  EXPECT_EQ(x.experts.at(line("adapter.0")).visits, 1.0);
  EXPECT_EQ(x.experts.at(line("adapter.0")).rows, 10.0);
  EXPECT_EQ(x.experts.at(line("adapter.2")).rows, 5.0);
  EXPECT_EQ(x.experts.at(line("adapter.3")).visits, 0.0);
  EXPECT_EQ(x.active.at("adapter"), 3u);
  EXPECT_EQ(x.entropies.at("pi").count, 2u);
}

TEST_F(load_of_experts, is_by_what_is_offered_where_nothing_is_disclosed) {
  visit({}, {"model", "adapter.1"});
  visit({}, {"model"});
  const auto x = testee.status();
  EXPECT_EQ(x.experts.at(line("adapter.1")).visits, 1.0);
  EXPECT_EQ(x.experts.at(line("adapter.0")).visits, 0.0);
  EXPECT_EQ(x.active.at("adapter"), 1u);
  EXPECT_EQ(x.entropies.at("pi").count, 0u);
}

TEST_F(load_of_experts, forgets_who_was_of_no_use_for_long) {
  visit({1, 0, 0, 0});
  for (int i = 0; i < 39; ++i)
    visit({0, 1, 0, 0});
  EXPECT_EQ(testee.status().active.at("adapter"), 2u);
  visit({0, 1, 0, 0});
  EXPECT_EQ(testee.status().active.at("adapter"), 1u);
}

// What a served run cannot compute from states that stay with their clients.
TEST_F(load_of_experts, says_of_the_last_mixtures_how_far_they_are_the_groups) {
  loads of_two{method, blocks, 2};
  const auto disclose = [&](std::uint64_t client, std::vector<double> mixture) {
    of_two.add({.visit = {{client}, {1}},
                .examples = 10,
                .blocks = {},
                .disclosures = {{.index = 0, .values = std::move(mixture)}}});
  };
  EXPECT_TRUE(of_two.status().figures.empty());
  disclose(1, {0.25, 0.25, 0.25, 0.25});
  disclose(2, {0, 1, 0, 0});
  EXPECT_DOUBLE_EQ(of_two.status().figures.at("router_entropy"),
                   std::log(4.0) / 2);
  disclose(3, {0.5, 0.5}); // There are four experts.
  disclose(1, {1, 0, 0, 0});
  const auto found = of_two.status().figures;
  EXPECT_EQ(found.size(), 3u);
  EXPECT_EQ(found.at("router_entropy"), 0);
  EXPECT_EQ(found.at("recovered"), 1);
  EXPECT_EQ(found.at("router_mismatch"), 0);
  visit({1, 0, 0, 0});
  EXPECT_EQ(testee.status().figures.size(), 1u) << "no groups are known";
}

TEST_F(load_of_experts, holds_so_many_mixtures_and_no_more) {
  const auto disclose = [&](std::uint64_t client, std::vector<double> mixture) {
    testee.add({.visit = {{client}, {1}},
                .examples = 10,
                .blocks = {},
                .disclosures = {{.index = 0, .values = std::move(mixture)}}});
  };
  for (std::uint64_t k = 1; k <= limits::routers_watched; ++k)
    disclose(k, {1, 0, 0, 0});
  disclose(limits::routers_watched + 1, {0.5, 0.5, 0, 0});
  EXPECT_EQ(testee.status().figures.at("router_entropy"), 0);
  disclose(7, {0.5, 0.5, 0, 0});
  EXPECT_GT(testee.status().figures.at("router_entropy"), 0);
}

TEST(relative_entropy, is_from_one_part_to_all_alike) {
  EXPECT_EQ(relative_entropy({1, 0, 0, 0}), 0);
  EXPECT_DOUBLE_EQ(relative_entropy({0.25, 0.25, 0.25, 0.25}), 1);
  EXPECT_DOUBLE_EQ(relative_entropy({0.5, 0.5, 0, 0}), 0.5);
  EXPECT_EQ(relative_entropy({1}), 0) << "there is nothing to mix";
}

} // namespace troupe::actors
