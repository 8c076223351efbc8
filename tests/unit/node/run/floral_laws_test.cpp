// What must hold of mixtures of adapters and of whole models whatever the data:
// reductions to simpler methods, and what stays with a client. In the plain
// loop, which the actors equal bit by bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include "core/random.hpp"
#include "models/methods/router.hpp"
#include "node/task/workload.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/quadratic_federation.hpp"
#include "tests/support/reference_loop.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

using clients = std::vector<std::uint64_t>;

const clients everybody{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
const clients first_cluster{1, 3, 5, 7, 9}, second_cluster{2, 4, 6, 8, 10};

/// FLoRAL's linear task under a method, round by round.
class plain_task {
public:
  explicit plain_task(const overrides& changes) {
    std::ifstream file{TROUPE_SOURCE_DIR
                       "/deploy/examples/floral/synthetic_linear.toml"};
    std::ostringstream text;
    text << file.rdbuf();
    overrides all{"seed=4"};
    all.insert(all.end(), changes.begin(), changes.end());
    const auto x = configured(text.str(), all, {});
    work = node::prepare(x, no_model).value();
    for (const auto& [id, values] : work.initial)
      initial[work.blocks->find(id)->name] = values;
    trainer = work.make_trainer().value();
  }

  void begin() {
    loop.emplace(wrapped ? *wrapped : *trainer,
                 reference_options{.method = work.method,
                                   .blocks = *work.blocks,
                                   .initial = initial,
                                   .admitted = 10});
  }

  void rounds(std::uint64_t count, const clients& who = everybody) {
    if (!loop)
      begin();
    for (; count > 0; --count, ++round_) {
      std::vector<invited> cohort;
      for (const auto k : who)
        cohort.push_back({.client = {k}, .seed = 100 * round_ + k});
      const auto done = loop->round(cohort);
      ASSERT_TRUE(done) << done.error().context;
    }
  }

  const value_view& values(std::string_view block) const {
    return loop->values(block);
  }

  double result(const std::string& name) const {
    return loop->evaluate(true)->method_results.at(name);
  }

  std::vector<double> shares(std::uint64_t client) const {
    const auto kept = loop->state({client})->blocks.at("mixture").own_view();
    return models::softmax(std::vector<double>(kept.begin(), kept.end()));
  }

  node::workload work;
  std::map<std::string, shared_values> initial;
  std::unique_ptr<models::trainer> trainer;
  models::trainer* wrapped = nullptr;
  std::optional<reference_loop> loop;

private:
  std::uint64_t round_ = 0;
};

/// Another trainer's work, with weights of its own.
class reweighed final : public models::one_by_one_trainer {
public:
  using rule = std::function<double(const models::block_layout&, client_id)>;

  reweighed(models::trainer& of, const models::layout& blocks, rule weight)
    : of_(of),
      blocks_(blocks),
      weight_(std::move(weight)) {
    // nop
  }

  result<models::choice> choose(const models::visit_input& x) override {
    return of_.choose(x);
  }

  result<models::trained> train_one(const models::visit_input& x) override {
    auto out = of_.train(x);
    if (out)
      for (auto& part : out->parts)
        part.weight = weight_(*blocks_.find(part.block), x.visit.client);
    return out;
  }

  result<models::evaluated>
  evaluate(const models::evaluation_input& x) override {
    return of_.evaluate(x);
  }

  std::uint64_t examples(client_id x) const override {
    return of_.examples(x);
  }

  std::uint64_t steps(const models::visit_input& x) const override {
    return of_.steps(x);
  }

private:
  models::trainer& of_;
  const models::layout& blocks_;
  rule weight_;
};

} // namespace

TEST(floral_laws, one_adapter_leaves_the_router_nothing_to_learn) {
  plain_task learned{{"components=1"}};
  plain_task tied{{"components=1", "method=floral_optimal"}};
  learned.rounds(20);
  tied.rounds(20);
  EXPECT_EQ(learned.values("model"), tied.values("model"));
  EXPECT_EQ(learned.values("adapter"), tied.values("adapter"));
}

// An adapter learns of its cluster alone, the base of everybody.
TEST(floral_laws, clients_of_one_cluster_make_its_adapter_and_all_the_base) {
  plain_task all{{"method=floral_optimal"}}, first{{"method=floral_optimal"}},
    second{{"method=floral_optimal"}};
  all.rounds(1);
  first.rounds(1, first_cluster);
  second.rounds(1, second_cluster);
  EXPECT_EQ(all.values("adapter.0"), first.values("adapter.0"));
  EXPECT_EQ(all.values("adapter.1"), second.values("adapter.1"));
  const auto &a = first.values("model"), &b = second.values("model");
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(all.values("model")[i], (a[i] + b[i]) / 2, 1e-6);
}

TEST(floral_laws, whole_models_of_clusters_are_as_many_runs_of_fedavg) {
  plain_task all{{"method=ensemble_optimal"}};
  const auto first = all.initial.at("model.0"),
             second = all.initial.at("model.1");
  EXPECT_NE(*first, *second);
  all.rounds(10);
  for (const auto& [begin, members, name] :
       {std::tuple{first, first_cluster, "model.0"},
        std::tuple{second, second_cluster, "model.1"}}) {
    plain_task alone{{"method=fedavg"}};
    alone.initial["model"] = begin;
    alone.rounds(10, members);
    for (std::size_t i = 0; i < first->size(); ++i)
      EXPECT_NEAR(alone.values("model")[i], all.values(name)[i], 1e-6);
  }
}

// Each model learns with its own parameters: which of them is called the first
// makes no difference.
TEST(floral_laws, models_of_an_ensemble_can_change_places) {
  const overrides task{"method=ensemble", "task=mlp", "model.hidden=[4]"};
  plain_task x{task}, other{task};
  std::swap(other.initial.at("model.0"), other.initial.at("model.1"));
  x.rounds(5);
  other.rounds(5);
  const auto &a = x.values("model.0"), &b = other.values("model.1");
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 1e-6);
}

TEST(floral_laws, an_adapter_that_nobody_offers_to_keeps_its_version) {
  plain_task x{{"method=floral_optimal"}};
  x.rounds(3, first_cluster);
  EXPECT_EQ(x.values("adapter.1"), *x.initial.at("adapter.1"));
  EXPECT_EQ(x.loop->line(x.work.blocks->find("adapter.1")->line).size(), 1u);
  EXPECT_EQ(x.loop->line(x.work.blocks->find("adapter.0")->line).size(), 4u);
}

TEST(floral_laws, a_router_stays_with_its_client) {
  plain_task x{{}};
  EXPECT_EQ(x.work.blocks->find("mixture"), nullptr); // It cannot travel.
  x.rounds(50);
  EXPECT_NE(x.shares(1), x.shares(2));
  const auto before = x.loop->state({2});
  x.rounds(1, first_cluster);
  EXPECT_EQ(x.loop->state({2}), before); // It was not there.
}

TEST(floral_laws, equal_adapters_never_part) {
  plain_task equal{{}}, fedavg{{"method=fedavg"}};
  equal.initial["adapter.1"] = equal.initial["adapter.0"];
  equal.rounds(200);
  fedavg.rounds(200);
  EXPECT_EQ(equal.values("adapter.0"), equal.values("adapter.1"));
  for (const auto k : everybody)
    EXPECT_EQ(equal.shares(k), (std::vector<double>{0.5, 0.5}));
  const auto error = fedavg.result("test_mse");
  EXPECT_NEAR(equal.result("test_mse"), error, 0.1 * error);
}

TEST(floral_laws, an_adapter_merged_without_shares_learns_more_slowly) {
  plain_task published{{}}, even{{}};
  reweighed without{*even.trainer, *even.work.blocks,
                    [&](const models::block_layout&, client_id k) {
                      return static_cast<double>(even.work.examples(k));
                    }};
  even.wrapped = &without;
  published.rounds(200);
  even.rounds(200);
  EXPECT_GT(even.result("test_mse"), 1.5 * published.result("test_mse"));
}

// Where all have the same curvature, wrong weights move the end by as much as
// they are wrong.
TEST(floral_laws, a_mismatch_of_weights_is_where_the_model_ends) {
  quadratic_federation clients{
    {.method = *policies::find_recipe("fedavg"),
     .how = {.local_steps = 3, .batch_size = 0, .learning_rate = 0.2},
     .problem = {.dimension = 3, .clients = 4, .conditioning = 1}}};
  const std::vector<double> weights{1, 2, 4, 1};
  reweighed testee{clients.trainer(), clients.blocks(),
                   [&](const models::block_layout&, client_id k) {
                     return weights[k.value - 1];
                   }};
  reference_loop loop{testee,
                      {.method = *policies::find_recipe("fedavg"),
                       .blocks = clients.blocks(),
                       .initial = {{"model", share(clients.model().copy())}}}};
  const std::vector<invited> all{{{1}}, {{2}}, {{3}}, {{4}}};
  for (int i = 0; i < 60; ++i)
    ASSERT_TRUE(loop.round(all));
  for (std::size_t j = 0; j < 3; ++j) {
    double expected = 0;
    for (std::size_t k = 0; k < 4; ++k)
      expected += weights[k] / 8 * clients.problem().centre[3 * k + j];
    EXPECT_NEAR(loop.values("model")[j], expected, 1e-3);
  }
}

// One model of a mixture of weights loses no more than the mixture of losses
// does where losses are convex.
TEST(floral_laws, mixed_weights_lose_no_more_than_mixed_losses) {
  const auto problem = models::make_quadratic_problem(
    {.seed = 3, .dimension = 4, .clients = 1, .rows_per_client = 5});
  models::quadratic model{problem};
  const std::vector<std::uint32_t> rows{0, 1, 2, 3, 4};
  random_stream draws{5};
  for (int i = 0; i < 50; ++i) {
    std::vector<double> logits(3);
    for (auto& x : logits)
      x = 3 * draws.normal();
    const auto shares = models::softmax(logits);
    std::vector<float> mixed(4);
    double losses = 0;
    for (const auto share : shares) {
      for (std::size_t j = 0; j < 4; ++j) {
        const auto w = 2 * draws.normal();
        model.parameters()[j] = static_cast<float>(w);
        mixed[j] += static_cast<float>(share * w);
      }
      losses += share * *model.backward(rows, 1);
    }
    std::ranges::copy(mixed, model.parameters().begin());
    EXPECT_LE(*model.backward(rows, 1), losses + 1e-6);
  }
}

} // namespace troupe::test
