// Per-FedAvg on an adapter's factors: its gradient is that through the inner
// step, all of it, and without that step it is HOMLoRA.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/adapter_site.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::test::per_fedavg_lora_test {

namespace {

constexpr double inner_rate = 0.05;

/// Twelve rows, 4 inputs, 3 targets, and an adapter of rank 2.
struct meta_case {
  std::shared_ptr<const models::regression_problem> problem =
    linear_problem(4, 3, 12, 5);
  std::vector<float> common = models::draw(14, 1);
  two_level_loss loss{*problem};
  double_factors x{2, {common.begin(), common.end()}};
  double_factors nothing{1, std::vector<double>(7)};

  using rows = two_level_loss::rows;

  adapter_site site(std::string_view method, options said,
                    std::uint32_t batch = 0, std::uint32_t steps = 1) const {
    models::training_options how;
    how.local_steps = steps;
    how.batch_size = batch;
    how.shuffle = false;
    how.momentum = 0.9; // Its first moment is the gradient of one step.
    said["rank"] = 2;
    return adapter_site{
      {.method = method, .problem = problem, .how = how, .said = said}};
  }

  std::vector<double> direction(options said, std::uint32_t batch = 0) const {
    const auto by = site("per_fedavg_lora", std::move(said), batch);
    const auto out = by.trainer->train(by.visit(common));
    EXPECT_TRUE(out) << out.error().context;
    const auto found = out->next.moments.at("adapter.first").own_view();
    return {found.begin(), found.end()};
  }

  double_factors moved(const rows& of) const {
    auto result = x;
    const auto slopes = loss.gradient(x, nothing, of);
    for (std::size_t j = 0; j < slopes.size(); ++j)
      result.values[j] -= inner_rate * slopes[j];
    return result;
  }

  /// (1 - a H(x; curve)) F'(x'; outer), H by differences.
  std::vector<double> expected(const rows& inner, const rows& outer,
                               const rows& curve) const {
    auto g = loss.gradient(moved(inner), nothing, outer);
    constexpr double step = 1e-4;
    auto above = x, below = x;
    for (std::size_t j = 0; j < g.size(); ++j) {
      above.values[j] += step * g[j];
      below.values[j] -= step * g[j];
    }
    const auto high = loss.gradient(above, nothing, curve);
    const auto low = loss.gradient(below, nothing, curve);
    for (std::size_t j = 0; j < g.size(); ++j)
      g[j] -= inner_rate * (high[j] - low[j]) / (2 * step);
    return g;
  }
};

void expect_near(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  double largest = 0;
  for (const auto v : b)
    largest = std::max(largest, std::abs(v));
  for (std::size_t j = 0; j < a.size(); ++j)
    EXPECT_NEAR(a[j], b[j], 1e-5 * largest) << j;
}

} // namespace

TEST(per_fedavg_lora, follows_the_gradient_through_the_inner_step) {
  const meta_case c;
  const auto& all = c.problem->clients.train[0];
  std::vector<double> expected;
  constexpr double step = 1e-5;
  for (std::size_t j = 0; j < c.x.values.size(); ++j) {
    const auto value = [&](double by) {
      auto at = c;
      at.x.values[j] += by;
      return c.loss.value(at.moved(all), c.nothing, all);
    };
    expected.push_back((value(step) - value(-step)) / (2 * step));
  }
  expect_near(c.direction({{"inner_rate", inner_rate}}), expected);
  expect_near(c.direction({{"inner_rate", inner_rate}, {"first_order", 1}}),
              c.loss.gradient(c.moved(all), c.nothing, all));
}

TEST(per_fedavg_lora, takes_each_derivative_at_its_point_and_on_its_batch) {
  const meta_case c;
  using rows = two_level_loss::rows;
  const rows batch[] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}};
  expect_near(c.direction({{"inner_rate", inner_rate}}, 4),
              c.expected(batch[0], batch[1], batch[0]));
  expect_near(
    c.direction({{"inner_rate", inner_rate}, {"three_batches", 1}}, 4),
    c.expected(batch[0], batch[1], batch[2]));
}

TEST(per_fedavg_lora, without_an_inner_step_is_homlora_to_the_bit) {
  const meta_case c;
  const auto delta = [&](std::string_view method, const options& said) {
    const auto by = c.site(method, said, 0, 5);
    return by.trainer->train(by.visit(c.common))->parts.at(0).delta.copy();
  };
  EXPECT_EQ(delta("per_fedavg_lora", {{"inner_rate", 0}}),
            delta("homlora", {}));
}

// Specification, A17.
TEST(per_fedavg_lora, is_scored_after_a_step_on_rows_that_it_trains_on) {
  const meta_case c;
  auto split = *c.problem;
  split.clients = {.train = {{0, 1, 2, 3, 4, 5}}, .test = {{6, 7, 8}}};
  auto apart = c;
  apart.problem = std::make_shared<const models::regression_problem>(split);
  const auto by = apart.site("per_fedavg_lora", {{"inner_rate", inner_rate}});
  const auto found = by.trainer->evaluate(
    {.versions = by.visit(c.common).fetched, .per_client = true, .states = {}});
  ASSERT_TRUE(found) << found.error().context;
  const auto own = c.moved(split.clients.train[0]);
  EXPECT_NEAR(found->per_client.at({1}).mean_loss(),
              c.loss.value(own, c.nothing, split.clients.test[0]), 1e-4);
  two_level_loss::rows all(12);
  std::iota(all.begin(), all.end(), 0u);
  EXPECT_NEAR(found->global.mean_loss(), c.loss.value(c.x, c.nothing, all),
              1e-4)
    << "nobody's model is the common one";
}

} // namespace troupe::test::per_fedavg_lora_test
