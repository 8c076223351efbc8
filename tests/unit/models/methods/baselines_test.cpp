// What mixtures of experts are compared with: two runs of averaging at once,
// and the common model alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "models/embedder.hpp"
#include "models/tasks/quadratic.hpp"
#include "tests/support/every_method.hpp"
#include "tests/support/moving_statistics.hpp"

namespace troupe::test::baselines_test {

namespace {

using models::split;

quadratic_setting setting_of(const std::string& method) {
  return noisy_setting(method, 3, {10, 7, 10});
}

/// With statistics in the layout, two of each instance.
quadratic_setting with_statistics(const std::string& method) {
  auto x = setting_of(method);
  x.make_model = [](auto problem) {
    return std::make_unique<moving_statistics>(problem);
  };
  x.families = {{"model.buffers", {0.5f, 1.f}}};
  return x;
}

/// The fetched values of a block.
models::fetched_block& fetched(models::visit_input& x,
                               const quadratic_federation& on,
                               const std::string& block) {
  const auto id = on.blocks().find(block)->id;
  return *std::ranges::find(x.fetched, id, &models::fetched_block::block);
}

const offered_block* offered(const models::trained& x,
                             const quadratic_federation& on,
                             const std::string& block) {
  const auto id = on.blocks().find(block)->id;
  const auto at = std::ranges::find(x.parts, id, &offered_block::block);
  return at == x.parts.end() ? nullptr : &*at;
}

/// Says its point, moved by a number that is no parameter.
class moved_quadratic final : public models::quadratic {
public:
  using quadratic::quadratic;

  const models::tensor_list& buffer_list() const noexcept override {
    static const models::tensor_list all{{"offset", {1}}};
    return all;
  }

  std::span<float> buffers() noexcept override {
    return offset_;
  }

  std::vector<float> initial_buffers() override {
    return {0.f};
  }

  result<void> say(split part, std::span<const std::uint32_t> rows,
                   std::span<float> out) override {
    return quadratic::say(part, rows, out).map([&] {
      for (auto& x : out)
        x += offset_[0];
    });
  }

private:
  std::vector<float> offset_ = {0.f};
};

/// Losses of all test rows at a point.
double loss_at(const models::quadratic_options& how,
               const std::vector<float>& point) {
  models::quadratic model{models::make_quadratic_problem(how)};
  std::copy(point.begin(), point.end(), model.parameters().begin());
  std::vector<std::uint32_t> rows(how.clients);
  std::iota(rows.begin(), rows.end(), 0u);
  return model.evaluate(split::test, rows)->loss;
}

} // namespace

// Each of its models is what a run of plain averaging makes of it, with batches
// in an order of its own and statistics of its own.
TEST(average_ensemble, is_two_runs_of_averaging_in_other_orders) {
  quadratic_federation both{with_statistics("average_ensemble")};
  quadratic_federation plain{with_statistics("fedavg")};
  auto visit = both.visit(2, 9);
  fetched(visit, both, "model.buffers.1").values =
    share(std::vector<float>{0.25f, 2.f});
  const auto found = both.trainer().train(visit);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->parts.size(), 4u);
  double loss = 0;
  for (const std::string i : {"0", "1"}) {
    auto alone = plain.visit(2, derive_seed(9, "model", i == "0" ? 0 : 1));
    for (const std::string family : {"model", "model.buffers"})
      fetched(alone, plain, family).values =
        fetched(visit, both, family + "." + i).values;
    const auto one = plain.trainer().train(alone);
    ASSERT_TRUE(one) << one.error().context;
    for (const std::string family : {"model", "model.buffers"}) {
      const auto* of_both = offered(*found, both, family + "." + i);
      const auto* of_one = offered(*one, plain, family);
      ASSERT_TRUE(of_both && of_one) << family << i;
      EXPECT_EQ(*of_both->delta, *of_one->delta) << family << i;
      EXPECT_EQ(of_both->weight, 7) << "examples";
    }
    EXPECT_EQ(found->steps, 2 * one->steps);
    loss += one->loss;
  }
  EXPECT_DOUBLE_EQ(found->loss, loss / 2);
}

TEST(average_ensemble, parts_models_that_begin_equal) {
  quadratic_federation both{setting_of("average_ensemble")};
  auto visit = both.visit(1, 9);
  fetched(visit, both, "model.1").values =
    fetched(visit, both, "model.0").values;
  const auto found = both.trainer().train(visit);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_NE(*offered(*found, both, "model.0")->delta,
            *offered(*found, both, "model.1")->delta);
}

TEST(average_ensemble, is_scored_by_the_mean_of_what_both_say) {
  auto how = setting_of("average_ensemble");
  how.make_model = [](auto problem) {
    return std::make_unique<moved_quadratic>(problem);
  };
  how.families = {{"model.buffers", {0.f}}};
  quadratic_federation both{how};
  auto visit = both.visit(1, 9);
  fetched(visit, both, "model.buffers.0").values =
    share(std::vector<float>{1.f});
  fetched(visit, both, "model.buffers.1").values =
    share(std::vector<float>{4.f});
  const auto a = fetched(visit, both, "model.0").values.copy();
  const auto b = fetched(visit, both, "model.1").values.copy();
  std::vector<float> mean;
  for (std::size_t j = 0; j < a.size(); ++j)
    mean.push_back((a[j] + 1 + b[j] + 4) / 2);
  const auto found = both.trainer().evaluate(
    {.versions = visit.fetched, .per_client = true, .states = {}});
  ASSERT_TRUE(found) << found.error().context;
  const auto expected = loss_at(how.problem, mean);
  EXPECT_NEAR(found->global.loss, expected, 1e-4 * expected);
  double sum = 0;
  for (const auto& [client, scores] : found->per_client)
    sum += scores.loss;
  EXPECT_NEAR(sum, expected, 1e-4 * expected);
}

namespace {

/// Three clients, and a common model at this point if there is one.
std::unique_ptr<models::trainer>
common_alone_at(const models::quadratic_options& how,
                const std::vector<float>& point) {
  const auto problem = models::make_quadratic_problem(how);
  auto model = std::make_unique<models::quadratic>(problem);
  auto task = std::make_shared<models::local_task>();
  task->method = *policies::find_recipe("common_expert");
  task->blocks =
    models::make_layout(task->method, models::shapes_of(*model), {}).value();
  task->clients = models::partition_of(*problem);
  task->test_size = how.clients;
  if (!point.empty()) {
    task->frozen["common"] = share(std::vector<float>{point});
    task->make_common =
      [problem]() -> result<std::unique_ptr<models::objective>> {
      return std::make_unique<models::quadratic>(problem);
    };
    task->embedded = std::make_shared<models::embedding_table>();
  }
  auto made = models::make_local_trainer(task, std::move(model),
                                         kernels::make_backend({}).value());
  EXPECT_TRUE(made) << made.error().context;
  return made ? std::move(*made) : nullptr;
}

const models::quadratic_options three{
  .seed = 5, .dimension = 4, .clients = 3, .rows_per_client = 2};

/// Zeros, as the shared model that only travels down.
std::vector<models::fetched_block> shared_zeros() {
  return {
    {.block = {1}, .base = {}, .values = share(std::vector<float>(4, 0.f))}};
}

} // namespace

TEST(common_alone, scores_each_client_by_the_common_model) {
  const std::vector<float> point{0.5f, -1.f, 2.f, 0.25f};
  const auto testee = common_alone_at(three, point);
  ASSERT_NE(testee, nullptr);
  const models::evaluation_input x{
    .versions = shared_zeros(), .per_client = true, .states = {}};
  const auto found = testee->evaluate(x);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->global.count, 0u) << "nobody merges a model";
  ASSERT_EQ(found->per_client.size(), 3u);
  double sum = 0;
  for (const auto& [client, scores] : found->per_client)
    sum += scores.loss;
  EXPECT_DOUBLE_EQ(sum, loss_at(three, point));
  EXPECT_NE(sum, loss_at(three, {0.f, 0.f, 0.f, 0.f}));
}

TEST(common_alone, does_and_offers_nothing) {
  const std::vector<float> point{0.5f, -1.f, 2.f, 0.25f};
  const auto testee = common_alone_at(three, point);
  ASSERT_NE(testee, nullptr);
  const models::visit_input visit{.visit = {{1}, {1}},
                                  .seed = 3,
                                  .fetched = shared_zeros(),
                                  .chosen = {},
                                  .state = nullptr};
  const auto found = testee->train(visit);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_TRUE(found->parts.empty());
  EXPECT_TRUE(found->next.blocks.empty());
  EXPECT_EQ(found->next.visits, 1u);
}

TEST(common_alone, needs_a_common_model) {
  const auto testee = common_alone_at(three, {});
  ASSERT_NE(testee, nullptr);
  const auto found = testee->evaluate(
    {.versions = shared_zeros(), .per_client = true, .states = {}});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::invalid_config);
  EXPECT_EQ(found.error().context,
            "method 'common_expert' is scored by its common model, and there "
            "is none; a frozen block 'common' in its recipe would do");
}

} // namespace troupe::test::baselines_test
