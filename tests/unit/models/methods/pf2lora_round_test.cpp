// What a round of PF2LoRA and its baselines is, over several clients: what is
// averaged, what stays apart, and what becomes what.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/support/low_rank_federation.hpp"

namespace troupe::test::pf2lora_round_test {

namespace {

models::low_rank_problem problem() {
  return models::make_low_rank_problem({.seed = 7});
}

/// The same rows, held by others.
models::low_rank_problem held_by(std::vector<std::vector<std::uint32_t>> rows) {
  auto x = problem();
  auto changed = *x.rows;
  changed.clients.train = rows;
  changed.clients.test.assign(rows.size(), {0});
  x.rows = std::make_shared<const models::regression_problem>(changed);
  x.truths.clear();
  return x;
}

std::vector<std::uint32_t> rows_from(std::uint32_t first, std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), first);
  return rows;
}

way with(way x, options more) {
  for (const auto& [name, value] : more)
    x.said[name] = value;
  return x;
}

std::vector<float> kept(low_rank_federation& x, std::uint64_t client,
                        const char* block) {
  const auto values = x.loop().state({client})->blocks.at(block).own_view();
  return {values.begin(), values.end()};
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j)
    sum += std::pow(static_cast<double>(a[j]) - static_cast<double>(b[j]), 2);
  return std::sqrt(sum);
}

std::vector<float> common(low_rank_federation& x) {
  return x.loop().values("adapter").copy();
}

} // namespace

TEST(pf2lora_round, ends_with_the_mean_of_what_clients_left) {
  const auto x = problem();
  low_rank_federation testee{x, two_levels, 1}, other{x, two_levels, 1};
  for (int r = 0; r < 3; ++r) {
    testee.round();
    other.round(true);
    auto mean = kept(testee, 1, "left_adapter");
    const auto second = kept(testee, 2, "left_adapter");
    EXPECT_GT(distance(mean, second), 0.01);
    for (std::size_t j = 0; j < mean.size(); ++j)
      mean[j] = (mean[j] + second[j]) / 2;
    EXPECT_LT(distance(common(testee), mean), 1e-5);
    EXPECT_EQ(common(testee), common(other)) << "in any order, to the bit";
    EXPECT_GT(
      distance(kept(testee, 1, "own_adapter"), kept(testee, 2, "own_adapter")),
      0.01);
  }
  EXPECT_EQ(testee.loop().state({1})->counters.at("adapter.steps"), 30u);
}

// Each step's gradients averaged is each step's weights averaged.
TEST(pf2lora_round, of_one_step_is_centralised_training_on_pooled_rows) {
  auto how = one_level;
  how.local_steps = 1;
  low_rank_federation apart{problem(), how, 1};
  low_rank_federation pooled{held_by({rows_from(0, 1400)}), how, 1};
  const auto first = common(apart);
  apart.rounds(100);
  pooled.rounds(100);
  EXPECT_GT(distance(common(apart), first), 1);
  EXPECT_LT(distance(common(apart), common(pooled)), 1e-3);
}

TEST(pf2lora_round, of_equal_ranks_and_norms_makes_hetlora_homlora) {
  const auto twice = held_by({rows_from(0, 700), rows_from(0, 700)});
  auto how = pruned;
  how.said = {
    {"rank", 4}, {"rank_min", 4}, {"penalty", 0}, {"normal_start", 2}};
  auto same = one_level;
  same.rate = how.rate;
  low_rank_federation het{twice, how, 1}, hom{twice, same, 1};
  const auto first = common(het);
  het.rounds(10);
  hom.rounds(10);
  EXPECT_GT(distance(common(het), first), 1);
  EXPECT_LT(distance(common(het), common(hom)), 1e-4);
}

TEST(pf2lora_round, of_per_fedavg_learns_where_a_step_ends_well) {
  const way how{"per_fedavg_lora",
                0.005,
                {{"rank", 4}, {"inner_rate", 0.001}, {"normal_start", 2}}};
  low_rank_federation meta{problem(), how, 1},
    first_order{problem(), with(how, {{"first_order", 1}}), 1};
  meta.rounds(20);
  first_order.rounds(20);
  const auto loss = [](low_rank_federation& x) {
    const auto found = x.loop().evaluate(true).value().per_client;
    return found.at({1}).mean_loss() + found.at({2}).mean_loss();
  };
  low_rank_federation plain{problem(), one_level, 1};
  plain.rounds(20);
  EXPECT_LT(loss(meta), loss(plain));
  EXPECT_LT(loss(meta), loss(first_order));
}

TEST(pf2lora_round, can_be_below_what_hetlora_can_reach) {
  const auto x = problem();
  low_rank_federation two{x, two_levels, 1}, het{x, pruned, 1};
  two.rounds(60);
  const auto least = least_loss(*x.rows, 1, 2);
  EXPECT_LT(two.evaluate().at("train_loss_pre.1"), least);
  for (int r = 0; r < 20; ++r) {
    het.round();
    const auto found = het.evaluate();
    EXPECT_GE(found.at("train_loss_pre.1"), least);
    EXPECT_GE(found.at("train_loss_post.1"), least);
  }
}

TEST(pf2lora_round, of_adapters_inside_is_that_of_composed_ones) {
  const auto x = problem();
  for (const auto& how : {two_levels, one_level, pruned}) {
    auto same = how;
    same.inside = true;
    low_rank_federation composed{x, how, 1}, inside{x, same, 1};
    const auto first = common(composed);
    EXPECT_EQ(common(inside), first);
    composed.rounds(3);
    inside.rounds(3);
    EXPECT_GT(distance(common(composed), first), 0.01) << how.method;
    EXPECT_LT(distance(common(composed), common(inside)), 1e-3) << how.method;
    const auto ranks = composed.evaluate(), found = inside.evaluate();
    EXPECT_EQ(found.at("rank_post.1"), ranks.at("rank_post.1"));
    EXPECT_EQ(found.at("rank_pre.2"), ranks.at("rank_pre.2"));
  }
}

TEST(reduced_rank_regression, goes_from_all_to_the_noise) {
  const auto x = problem();
  const auto& truth = x.truths[0];
  double all = 0;
  for (std::size_t j = 0; j < 7000; ++j)
    all += std::pow(static_cast<double>(x.rows->train.targets[j]), 2) / 700;
  EXPECT_NEAR(least_loss(*x.rows, 1, 0), all, 1e-6 * all);
  // Noise of 0.1 in ten targets, of which ten inputs explain a little.
  EXPECT_NEAR(least_loss(*x.rows, 1, 3), 0.1, 0.01);
  EXPECT_LT(least_loss(*x.rows, 1, 10), least_loss(*x.rows, 1, 3));
  EXPECT_NEAR(least_loss(*x.rows, 1, 2) - least_loss(*x.rows, 1, 3),
              squares_from(spectrum_of(truth), 2),
              0.3 * squares_from(spectrum_of(truth), 2));
}

} // namespace troupe::test::pf2lora_round_test
