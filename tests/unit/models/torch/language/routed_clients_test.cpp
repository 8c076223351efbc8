// What holds of all clients of a federation with experts, whatever their
// numbers; and how they are scored.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/support/routed_shapes.hpp"
#include "tests/support/same_visits.hpp"

namespace troupe::test {

using ::testing::UnorderedElementsAre;

namespace {

class routed_clients : public over_shapes {};

INSTANTIATE_TEST_SUITE_P(all, routed_clients,
                         ::testing::ValuesIn(routed_shapes), name_of_shape);

} // namespace

TEST_P(routed_clients, learns_routers_with_experts_where_they_learn_together) {
  notes seen;
  auto how = routed_setting_of("pfedmoe");
  how.to = &seen;
  routed_federation testee{how};
  testee.round({1});
  testee.round({1});
  EXPECT_TRUE(std::ranges::all_of(seen, is_of_training));
  EXPECT_FALSE(is_zero(routers_in(seen.back().after, routers_of(2))));
  const auto state = *testee.loop().state({1});
  EXPECT_THAT(keys_of(state.moments),
              UnorderedElementsAre("experts.first", "experts.second"));
  EXPECT_EQ(state.moments.at("experts.first").own_view().size(),
            seen.back().parameters.size());
}

TEST_P(routed_clients,
       opens_no_validation_row_where_routers_learn_from_training) {
  notes seen;
  auto how = routed_setting_of("comigs", often({{"router_data", 1}}));
  how.to = &seen;
  routed_federation testee{how};
  testee.round({1});
  EXPECT_EQ(seen.size(), 4u + 2u);
  EXPECT_TRUE(std::ranges::all_of(seen, is_of_training));
}

TEST_P(routed_clients,
       of_clients_of_unequal_numbers_comes_to_the_bits_of_each) {
  const std::vector<std::uint32_t> numbers[] = {{1, 2, 4}, {1, 8, 2}};
  for (const auto& experts : numbers) {
    const auto of = [&](std::size_t in_step) {
      auto how = routed_setting_of("comigs", often());
      how.experts = experts;
      how.in_step = in_step;
      return how;
    };
    routed_federation one{of(1)};
    routed_federation three{of(3)};
    for (int times = 0; times < 2; ++times) {
      std::vector<models::visit_input> visits;
      for (std::uint64_t k = 1; k <= 3; ++k)
        visits.push_back(one.visit(k, 20 + k));
      const auto expected = alone(one.trainer(), visits);
      expect_same(three.trainer().train(visits), expected);
      for (std::size_t k = 0; k < 3; ++k) {
        ASSERT_TRUE(expected[k]) << expected[k].error().context;
        // Nothing of what is sent says how many experts there are.
        ASSERT_EQ(expected[k]->parts.size(), 2u);
        for (std::size_t i = 0; i < 2; ++i)
          EXPECT_EQ(expected[k]->parts[i].delta->size(),
                    expected[0]->parts[i].delta->size());
        EXPECT_TRUE(expected[k]->disclosures.empty());
        // One expert has neither a specialist nor a router.
        EXPECT_EQ(expected[k]->next.blocks.size(),
                  experts[k] == 1 ? 2u : experts[k] + 2u);
      }
      EXPECT_FALSE(expected[0]->next.blocks.contains("router"));
      one.round();
    }
  }
}

TEST_P(routed_clients, with_specialists_that_are_no_numbers_offers_nothing) {
  routed_federation testee{routed_setting_of("comigs", often())};
  testee.round();
  auto in = testee.visit(2, 9);
  auto poisoned = *in.state;
  const auto size = kept(poisoned, "specialist.0").size();
  poisoned.blocks["specialist.0"] =
    personal_values{floats(size, std::numeric_limits<float>::quiet_NaN())};
  in.state = std::make_shared<const models::client_state>(poisoned);
  EXPECT_FALSE(testee.trainer().train(in));
  routed_federation fresh{routed_setting_of("comigs", often())};
  fresh.round();
  const auto after = testee.trainer().train(testee.visit(1, 9));
  expect_same(after, fresh.trainer().train(fresh.visit(1, 9)));
}

TEST_P(routed_clients, is_scored_as_the_client_left_it_and_as_it_is_merged) {
  routed_federation testee{routed_setting_of("comigs", often())};
  testee.round();
  testee.round();
  models::evaluation_input x{.versions = {}, .per_client = true, .states = {}};
  for (std::uint64_t k = 1; k <= 3; ++k)
    x.states[{k}] = testee.loop().state({k});
  x.versions = testee.visit(1, 1).fetched;
  const auto merged = testee.trainer().evaluate(x);
  ASSERT_TRUE(merged) << merged.error().context;
  EXPECT_GT(merged->method_results.at("perplexity_merged"), 1);
  EXPECT_NEAR(merged->method_results.at("perplexity_validation.2"),
              std::exp(merged->own_validation.at({2}).mean_loss()), 1e-12);
  for (auto& block : x.versions) // Other generalists.
    block.values = share(floats(block.values->size()));
  const auto zeros = testee.trainer().evaluate(x);
  ASSERT_TRUE(zeros) << zeros.error().context;
  ASSERT_EQ(merged->per_client.size(), 3u);
  for (const auto& [client, own] : merged->per_client)
    EXPECT_EQ(own.loss, zeros->per_client.at(client).loss);
  EXPECT_NE(merged->global.loss, zeros->global.loss);
  EXPECT_NE(merged->method_results.at("perplexity_merged"),
            zeros->method_results.at("perplexity_merged"));
  // Where the versions are what client 1 left it is worth the same with both.
  for (auto& block : x.versions)
    block.values =
      share(kept(*x.states.at({1}),
                 "left_" + testee.task().blocks.find(block.block)->name));
  const auto alone = testee.trainer().evaluate(x);
  ASSERT_TRUE(alone) << alone.error().context;
  EXPECT_NEAR(alone->method_results.at("perplexity_merged.1"),
              std::exp(alone->per_client.at({1}).mean_loss()), 1e-9);
}

TEST_P(routed_clients, begin_all_the_same_where_each_learns_alone) {
  const auto begun = [](const std::string& method, std::uint64_t client) {
    notes seen;
    auto how = routed_setting_of(method, {{"router_every", 1000}});
    how.to = &seen;
    routed_federation testee{how};
    testee.round({client});
    return seen.empty() ? floats{} : seen.front().parameters;
  };
  const auto one = begun("comigs_2s", 1);
  EXPECT_FALSE(is_zero(one));
  EXPECT_EQ(begun("comigs_2s", 2), one);
  // Specialists beside a generalist are drawn by each client.
  EXPECT_NE(begun("comigs", 2), begun("comigs", 1));
}

TEST_P(routed_clients, is_of_the_base_before_anybody_trained) {
  routed_federation testee{routed_setting_of("comigs")};
  const auto found = testee.loop().evaluate(true);
  ASSERT_TRUE(found) << found.error().context;
  std::vector<std::uint32_t> rows(testee.task().test_size);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<std::uint32_t>(i);
  const auto bare = testee.make(nullptr)->evaluate(models::split::test, rows);
  ASSERT_TRUE(bare) << bare.error().context;
  EXPECT_EQ(found->global.loss, bare->loss);
  EXPECT_FALSE(found->method_results.contains("perplexity_merged"));
}

TEST_P(routed_clients, leave_the_base_as_it_was) {
  routed_federation testee{routed_setting_of("comigs", often())};
  std::vector<std::uint32_t> rows(testee.task().test_size);
  std::iota(rows.begin(), rows.end(), 0u);
  const auto loss = [&] {
    const auto of = testee.make(nullptr)->evaluate(models::split::test, rows);
    EXPECT_TRUE(of) << of.error().context;
    return of ? of->loss : 0;
  };
  const auto before = loss();
  testee.round();
  testee.round();
  EXPECT_EQ(loss(), before) << "somebody wrote to the base";
}

TEST_P(routed_clients, asks_for_validation_rows) {
  auto how = routed_setting_of("comigs", often());
  routed_federation testee{how};
  auto task = testee.task();
  task.clients.own_validation.clear();
  const auto trainer =
    models::local_trainers(std::make_shared<const models::local_task>(task),
                           [&]() -> result<std::unique_ptr<models::objective>> {
                             return testee.make(nullptr);
                           })();
  ASSERT_TRUE(trainer) << trainer.error().context;
  const auto found = (*trainer)->train(testee.visit(2, 3));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().context,
            "method 'comigs' trains routers on validation rows, and client 2 "
            "has none");
}

} // namespace troupe::test
