// HETLoRA's visit: what it trains, gives up and offers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "models/adapters/adapter_factors.hpp"
#include "models/adapters/rank_prefix.hpp"
#include "models/shapes.hpp"
#include "tests/support/adapter_site.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::test::hetlora_test {

namespace {

/// 4 inputs, 3 targets, an adapter of rank 4: u has 12 values and v 16.
struct het_case {
  std::shared_ptr<const models::regression_problem> problem =
    linear_problem(4, 3, 12, 5);
  std::vector<float> common = models::draw(28, 1);

  models::trained trained(
    options said, std::string_view method = "hetlora", double rate = 0.01,
    std::shared_ptr<const models::client_state> state = {},
    models::optimiser_kind optimiser = models::optimiser_kind::sgd) const {
    said["rank"] = 4;
    models::training_options how;
    how.local_steps = 3;
    how.batch_size = 0;
    how.learning_rate = rate;
    how.optimiser = optimiser;
    const adapter_site site{
      {.method = method, .problem = problem, .how = how, .said = said}};
    const auto out = site.trainer->train(site.visit(common, state));
    EXPECT_TRUE(out) << out.error().context;
    return out ? *out : models::trained{};
  }

  /// The adapter as the server sees it: zeros where nothing is offered.
  std::vector<float> after(const models::trained& x) const {
    models::block_layout block;
    block.rank = 4;
    block.tensors = {{"u", {4, 3}}, {"v", {4, 4}}};
    block.size = common.size();
    auto values = models::padded(block, x.parts.at(0), common, HUGE_VALF);
    for (std::size_t j = 0; j < values.size(); ++j)
      values[j] += common[j];
    return values;
  }
};

options of_rank(double rank, options more = {}) {
  more.try_emplace("rank_min", 1);
  more["rank_first"] = more["rank_last"] = rank;
  more.try_emplace("keep_share", 0.7);
  more.try_emplace("penalty", 0);
  return more;
}

std::uint64_t rank_of(const models::trained& x) {
  return x.next.counters.at("rank");
}

} // namespace

TEST(hetlora, of_the_full_rank_without_penalty_is_homlora_to_the_bit) {
  const het_case c;
  const auto het = c.trained(of_rank(4, {{"rank_min", 4}}));
  const auto hom = c.trained({}, "homlora");
  EXPECT_EQ(*het.parts[0].delta, *hom.parts[0].delta);
  EXPECT_EQ(rank_of(het), 4u);
}

// AdamW would go on to move what has a moment.
TEST(hetlora, has_no_more_ranks_than_its_own_in_any_step) {
  const het_case c;
  auto state = std::make_shared<models::client_state>();
  state->counters["rank"] = 2;
  state->counters["adapter.steps"] = 1;
  for (const auto* name : {"adapter.first", "adapter.second"})
    state->moments[name] = personal_values{std::vector<float>(28, 1)};
  const auto run = [&](std::size_t zeroed_from) {
    auto other = std::make_shared<models::client_state>(*state);
    for (const auto* name : {"adapter.first", "adapter.second"}) {
      std::vector<float> moment(28, 1);
      for (std::size_t j = 0; j < 28; ++j)
        if (j < 12 ? j >= zeroed_from * 3 : j - 12 >= zeroed_from * 4)
          moment[j] = 0;
      other->moments[name] = personal_values{moment};
    }
    return c.trained(of_rank(2, {{"keep_share", 1}}), "hetlora", 0.01, other,
                     models::optimiser_kind::adamw);
  };
  EXPECT_EQ(*run(4).parts[0].delta, *run(2).parts[0].delta);
}

// Also before its first visit.
TEST(hetlora, is_scored_with_the_ranks_that_it_has) {
  const het_case c;
  models::training_options how;
  how.batch_size = 0;
  auto said = of_rank(2);
  said["rank"] = 4;
  const adapter_site site{
    {.method = "hetlora", .problem = c.problem, .how = how, .said = said}};
  const auto loss_of = [&](std::vector<float> common,
                           std::optional<std::uint64_t> rank) {
    models::evaluation_input x{
      .versions = site.visit(common).fetched, .per_client = true, .states = {}};
    if (rank) {
      auto state = std::make_shared<models::client_state>();
      state->counters["rank"] = *rank;
      x.states[{1}] = std::move(state);
    }
    const auto found = site.trainer->evaluate(x);
    EXPECT_TRUE(found) << found.error().context;
    return found->per_client.at({1}).mean_loss();
  };
  auto cut = c.common;
  for (std::size_t j = 0; j < 28; ++j)
    if (j < 12 ? j >= 6 : j - 12 >= 8)
      cut[j] = 0;
  EXPECT_EQ(loss_of(c.common, {}), loss_of(cut, 4));
  EXPECT_EQ(loss_of(c.common, 2), loss_of(cut, 4));
  EXPECT_NE(loss_of(c.common, 3), loss_of(cut, 4));
}

TEST(hetlora, offers_no_ranks_that_it_lacks) {
  const het_case c;
  const auto out = c.trained(of_rank(2, {{"rank_min", 2}}));
  EXPECT_EQ(out.parts.at(0).rank, 2u);
  EXPECT_EQ(out.parts[0].delta->size(), 2u * 7);
  const auto after = c.after(out);
  for (std::size_t j = 0; j < 6; ++j)
    EXPECT_NE(after[j], c.common[j]) << j;
  for (std::size_t j = 12; j < 20; ++j)
    EXPECT_NE(after[j], c.common[j]) << j;
}

// Rank 0 would be all of them.
TEST(hetlora, keeps_one_rank_whatever_it_may_give_up) {
  const het_case c;
  const auto out = c.trained(of_rank(1, {{"penalty", 20}, {"rank_min", 1}}));
  EXPECT_EQ(rank_of(out), 1u);
  EXPECT_EQ(out.parts.at(0).rank, 1u);
}

TEST(hetlora, learns_the_same_from_the_ranks_that_it_has_alone) {
  const het_case c;
  auto state = std::make_shared<models::client_state>();
  state->counters["rank"] = 2;
  models::training_options how;
  how.local_steps = 3;
  how.batch_size = 0;
  auto said = of_rank(2, {{"rank_min", 1}, {"penalty", 20}});
  said["rank"] = 4;
  const adapter_site site{
    {.method = "hetlora", .problem = c.problem, .how = how, .said = said}};
  const auto& block = site.blocks.blocks.front();
  auto x = site.visit(c.common, state);
  const auto whole = site.trainer->train(x);
  ASSERT_TRUE(whole) << whole.error().context;
  x.fetched[0].values = share(models::take_prefix(block, 2, c.common));
  const auto part = site.trainer->train(x);
  ASSERT_TRUE(part) << part.error().context;
  EXPECT_EQ(whole->parts[0].rank, 1u) << "it was pruned";
  EXPECT_EQ(part->parts[0].rank, 1u);
  EXPECT_EQ(*part->parts[0].delta, *whole->parts[0].delta);
  EXPECT_EQ(part->parts[0].weight, whole->parts[0].weight);
  EXPECT_EQ(part->next, whole->next);
  x.fetched[0].values = share(std::vector<float>(13));
  EXPECT_FALSE(site.trainer->train(x)) << "no rank has 13 values";
}

TEST(hetlora, weighs_by_the_norm_of_its_product) {
  const het_case c;
  const auto out = c.trained(of_rank(1));
  const auto x = c.after(out);
  double u = 0, v = 0;
  for (std::size_t j = 0; j < 3; ++j)
    u += std::pow(static_cast<double>(x[j]), 2);
  for (std::size_t j = 12; j < 16; ++j)
    v += std::pow(static_cast<double>(x[j]), 2);
  EXPECT_NEAR(out.parts[0].weight, std::sqrt(u * v), 1e-4);
}

TEST(hetlora, gives_up_a_tail_that_became_smaller_and_no_other) {
  het_case c;
  const auto shrunk = c.trained(of_rank(4, {{"penalty", 20}}));
  EXPECT_EQ(rank_of(shrunk), 2u); // 70 % of 4, rounded down.
  const auto bounded =
    c.trained(of_rank(4, {{"penalty", 20}, {"rank_min", 3}}));
  EXPECT_EQ(rank_of(bounded), 3u);
  // From zero a tail can only grow.
  std::fill_n(c.common.begin(), 12, 0.f);
  EXPECT_EQ(rank_of(c.trained(of_rank(4, {{"penalty", 20}}))), 4u);
}

TEST(hetlora, remembers_the_rank_that_it_has_left) {
  const het_case c;
  auto state = std::make_shared<models::client_state>();
  state->counters["rank"] = 1;
  const auto out = c.trained(of_rank(4), "hetlora", 0.01, state);
  EXPECT_EQ(rank_of(out), 1u);
  EXPECT_EQ(c.after(out)[3], 0);
}

// Specification, 3.3 and 6.4: of eight clients, rounded down.
TEST(hetlora, gives_clients_the_published_ranks) {
  auto problem = *linear_problem(4, 3, 8, 5);
  problem.clients = {};
  for (std::uint32_t k = 0; k < 8; ++k)
    problem.clients.train.push_back({k});
  problem.clients.test = problem.clients.train;
  const auto ranks = [&](double least, double budget) {
    models::training_options how;
    how.local_steps = 1;
    how.learning_rate = 1e-4;
    const adapter_site site{
      {.method = "hetlora",
       .problem = std::make_shared<const models::regression_problem>(problem),
       .how = how,
       .said = {{"rank_min", least}, {"rank", budget}, {"penalty", 0}}}};
    // Nothing has a tail to be given up where all begins at zero.
    auto x = site.visit(std::vector<float>(12 * 7));
    std::vector<std::uint64_t> found;
    for (std::uint64_t k = 1; k <= 8; ++k) {
      x.visit.client = {k};
      const auto out = site.trainer->train(x);
      EXPECT_TRUE(out) << out.error().context;
      found.push_back(rank_of(*out));
    }
    return found;
  };
  EXPECT_THAT(ranks(8, 12), ::testing::ElementsAre(8, 8, 9, 9, 10, 10, 11, 11));
  EXPECT_THAT(ranks(6, 12), ::testing::ElementsAre(6, 6, 7, 8, 9, 9, 10, 11));
}

// As CoMiGS is compared with it: 8 ranks for each of (4, 2, 2, 2) experts.
TEST(hetlora, gives_clients_ranks_for_their_experts) {
  auto problem = *linear_problem(4, 3, 5, 5);
  problem.clients = {};
  for (std::uint32_t k = 0; k < 5; ++k)
    problem.clients.train.push_back({k});
  problem.clients.test = problem.clients.train;
  const auto ranks = [&](std::vector<std::uint32_t> experts, double rank) {
    models::training_options how;
    how.local_steps = 1;
    how.learning_rate = 1e-4;
    const adapter_site site{
      {.method = "hetlora",
       .problem = std::make_shared<const models::regression_problem>(problem),
       .how = how,
       .said = {{"rank", rank}, {"rank_per_expert", 8}, {"penalty", 0}},
       .experts = std::move(experts)}};
    auto x = site.visit(std::vector<float>(static_cast<std::size_t>(rank) * 7));
    std::vector<std::uint64_t> found;
    for (std::uint64_t k = 1; k <= 5; ++k) {
      x.visit.client = {k};
      const auto out = site.trainer->train(x);
      EXPECT_TRUE(out) << out.error().context;
      found.push_back(rank_of(*out));
    }
    return found;
  };
  EXPECT_THAT(ranks({4, 2, 2, 2}, 32),
              ::testing::ElementsAre(32, 16, 16, 16, 32));
  EXPECT_THAT(ranks({}, 16), ::testing::ElementsAre(16, 16, 16, 16, 16));
}

namespace {

/// Two layers of 4 x 3 and 3 x 3, of ranks up to 4. The second factor's half
/// of the first one's tail is zero, from which it can only grow.
struct layered_case {
  std::shared_ptr<const models::regression_problem> problem =
    linear_problem(4, 3, 12, 5);
  options said = of_rank(4, {{"penalty", 20}, {"rank", 4}});
  models::adapter_plan plan = **models::adapters_for(
    *policies::find_recipe("hetlora"), model()->parameter_list(), said);
  std::vector<float> common = begin();

  std::unique_ptr<models::regression> model() const {
    return std::make_unique<models::regression>(problem,
                                                std::vector<std::size_t>{3});
  }

  std::vector<float> begin() const {
    auto x = models::draw(plan.size(), 1);
    for (auto& value : x)
      value *= 0.3f;
    const auto& first = plan.matrices.at(0);
    std::fill_n(x.begin()
                  + static_cast<std::ptrdiff_t>(first.u_at + 2 * first.rows),
                2 * first.rows, 0.f);
    return x;
  }

  adapter_site site(double pruning) const {
    auto x = said;
    x["pruning"] = pruning;
    models::training_options how;
    how.local_steps = 3;
    how.batch_size = 0;
    how.learning_rate = 0.01;
    return adapter_site{{.method = "hetlora",
                         .problem = problem,
                         .how = how,
                         .said = x,
                         .model = model(),
                         .clients = problem->clients,
                         .common = plan}};
  }
};

} // namespace

// Both tails together become smaller, and only that of the second layer does.
TEST(hetlora, gives_up_ranks_of_all_layers_or_of_each) {
  const layered_case c;
  ASSERT_EQ(c.plan.matrices.size(), 2u);
  const auto trained = [&](double pruning) {
    const auto site = c.site(pruning);
    auto out = site.trainer->train(site.visit(c.common));
    EXPECT_TRUE(out) << out.error().context;
    return out ? *out : models::trained{};
  };
  const auto together = trained(0);
  EXPECT_EQ(rank_of(together), 2u);
  EXPECT_FALSE(together.next.counters.contains("rank.0"));
  const auto apart = trained(1);
  EXPECT_EQ(rank_of(apart), 4u) << "the larger one travels";
  EXPECT_EQ(apart.next.counters.at("rank.0"), 4u);
  EXPECT_EQ(apart.next.counters.at("rank.1"), 2u);
  // What is given up of a layer counts as zeros: its delta is all there was.
  const auto& delta = *apart.parts.at(0).delta;
  ASSERT_EQ(delta.size(), c.common.size());
  const auto& second = c.plan.matrices[1];
  for (std::size_t j = 2 * second.rows; j < 4 * second.rows; ++j)
    EXPECT_EQ(delta[second.u_at + j], -c.common[second.u_at + j]) << j;
  for (std::size_t j = 2 * second.columns; j < 4 * second.columns; ++j)
    EXPECT_EQ(delta[second.v_at + j], -c.common[second.v_at + j]) << j;
}

// A version has them again, of others.
TEST(hetlora, has_of_each_layer_the_ranks_that_it_kept) {
  const layered_case c;
  const auto site = c.site(1);
  auto state = std::make_shared<models::client_state>();
  state->counters = {{"rank", 4}, {"rank.0", 4}, {"rank.1", 2}};
  auto cut = c.common;
  models::truncate(c.plan, models::rank_list{4, 2}, cut);
  const auto loss_of = [&](const std::vector<float>& common,
                           std::shared_ptr<const models::client_state> of) {
    const auto found =
      site.trainer->evaluate({.versions = site.visit(common).fetched,
                              .per_client = true,
                              .states = {{{1}, std::move(of)}}});
    EXPECT_TRUE(found) << found.error().context;
    return found ? found->per_client.at({1}).mean_loss() : 0;
  };
  EXPECT_EQ(loss_of(c.common, state), loss_of(cut, state));
  auto whole = std::make_shared<models::client_state>();
  whole->counters = {{"rank", 4}};
  EXPECT_NE(loss_of(c.common, whole), loss_of(cut, whole));
  const auto out = site.trainer->train(site.visit(c.common, state));
  ASSERT_TRUE(out) << out.error().context;
  const auto left = out->next.blocks.at("left_adapter").own_view();
  const auto& second = c.plan.matrices[1];
  for (std::size_t j = 2 * second.rows; j < 4 * second.rows; ++j)
    EXPECT_EQ(left[second.u_at + j], 0) << j;
}

} // namespace troupe::test::hetlora_test
