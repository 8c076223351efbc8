// PF2LoRA's step: the published scalars, the derivative through the inner step,
// and what it becomes in special cases.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "models/adapters/adapter_factors.hpp"
#include "tests/support/adapter_site.hpp"
#include "tests/support/quadratic_federation.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::test::pf2lora_test {

namespace {

constexpr double inner_rate = 0.1;
constexpr double outer_rate = 0.1;

models::training_options one_step(std::uint32_t batch = 0) {
  models::training_options how;
  how.local_steps = 1;
  how.batch_size = batch;
  how.shuffle = false;
  how.learning_rate = outer_rate;
  return how;
}

/// (a b + c d - 3)^2 with the common adapter (a, b) and the own (c, d).
std::shared_ptr<const models::regression_problem> scalar_problem() {
  models::regression_problem x{.inputs = 1,
                               .targets = 1,
                               .train = {{1}, {3}},
                               .test = {{1}, {3}},
                               .clients = {.train = {{0}}, .test = {{0}}},
                               .has_bias = false,
                               .sums_targets = true,
                               .begins_at_zero = true};
  return std::make_shared<const models::regression_problem>(std::move(x));
}

options ranks(double common, double own) {
  return {{"rank", common}, {"own_rank", own}, {"inner_rate", inner_rate}};
}

options with(options x, const char* name, double value) {
  x[name] = value;
  return x;
}

models::trained trained_by(const adapter_site& site,
                           const std::vector<float>& common,
                           const std::vector<float>& own) {
  const auto out = site.trainer->train(site.visit(common, keeping(own)));
  EXPECT_TRUE(out) << out.error().context;
  return out ? *out : models::trained{};
}

/// x's hypergradient as the visit used it: the delta of one step, over the
/// rate.
std::vector<double> direction_of(const models::trained& x) {
  std::vector<double> result;
  for (const float v : *x.parts.at(0).delta)
    result.push_back(-static_cast<double>(v) / outer_rate);
  return result;
}

std::vector<double> doubled(const std::vector<float>& x) {
  return {x.begin(), x.end()};
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b,
                 double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t j = 0; j < a.size(); ++j)
    EXPECT_NEAR(a[j], b[j], tolerance) << j;
}

/// Twelve rows, 4 inputs, 3 targets; a common adapter of rank 2, own of rank 1.
struct small_case {
  std::shared_ptr<const models::regression_problem> problem =
    linear_problem(4, 3, 12, 5);
  std::vector<float> common = models::draw(14, 1);
  std::vector<float> own = models::draw(7, 2);
  two_level_loss loss{*problem};
  double_factors x{2, doubled(common)};
  double_factors y{1, doubled(own)};

  using rows = two_level_loss::rows;

  double_factors moved(const rows& of) const {
    auto result = y;
    const auto slopes = loss.gradient(y, x, of);
    for (std::size_t j = 0; j < slopes.size(); ++j)
      result.values[j] -= inner_rate * slopes[j];
    return result;
  }

  models::trained trained(std::uint32_t batch, const options& said) const {
    return trained_by(
      adapter_site{{.problem = problem, .how = one_step(batch), .said = said}},
      common, own);
  }
};

} // namespace

// Specification, 2.2.
TEST(pf2lora, makes_the_published_scalar_step) {
  const auto after = [](const options& said) {
    return trained_by(
      adapter_site{
        {.problem = scalar_problem(), .how = one_step(), .said = said}},
      {1, 1}, {1, 1});
  };
  const auto out = after(ranks(1, 1));
  expect_near(direction_of(out), {-0.5824, -0.5824}, 1e-5);
  const auto own = out.next.blocks.at("own_adapter").own_view();
  EXPECT_NEAR(own[0], 1.2, 1e-6);
  EXPECT_NEAR(own[1], 1.2, 1e-6);
  const auto first = direction_of(after(with(ranks(1, 1), "first_order", 1)));
  expect_near(first, {-1.12, -1.12}, 1e-5);
  // What the correction would make of it with the sign that is misprinted.
  EXPECT_NEAR(2 * first[0] - direction_of(out)[0], -1.6576, 1e-5);
  // Both from the old point: 2 (1 + 1 - 3) = -2.
  expect_near(direction_of(after(with(ranks(1, 1), "joint", 1))), {-2, -2},
              1e-5);
  EXPECT_NEAR(out.loss, 1, 1e-6);
  EXPECT_DOUBLE_EQ(out.parts[0].weight, 1);
}

// Specification, 3.3: queries and values of each layer.
TEST(pf2lora, trains_as_many_parameters_as_published) {
  struct architecture {
    int layers;
    std::int64_t width;
    std::uint32_t common, own;
    std::size_t sent, kept;
  };
  for (const auto& x : {architecture{12, 768, 8, 2, 294'912, 73'728},
                        architecture{24, 1024, 8, 2, 786'432, 196'608},
                        architecture{12, 768, 8, 4, 294'912, 147'456},
                        architecture{24, 1024, 4, 2, 393'216, 196'608},
                        architecture{48, 1600, 4, 2, 1'228'800, 614'400}}) {
    models::tensor_list model;
    for (int i = 0; i < x.layers; ++i)
      for (const auto* name : {"query", "value"})
        model.push_back(
          {std::to_string(i) + "." + name + ".weight", {x.width, x.width}});
    EXPECT_EQ(models::planned(model, {.rank = x.common}).size(), x.sent);
    EXPECT_EQ(models::planned(model, {.rank = x.own}).size(), x.kept);
  }
}

TEST(pf2lora, follows_the_gradient_through_the_inner_step) {
  const small_case c;
  const auto& all = c.problem->clients.train[0];
  // f(x, y - a f_y(x, y)) as a function of x, by differences in double.
  std::vector<double> expected;
  constexpr double step = 1e-5;
  for (std::size_t j = 0; j < c.x.values.size(); ++j) {
    const auto value = [&](double by) {
      auto at = c;
      at.x.values[j] += by;
      return c.loss.value(at.x, at.moved(all), all);
    };
    expected.push_back((value(step) - value(-step)) / (2 * step));
  }
  expect_near(direction_of(c.trained(0, ranks(2, 1))), expected, 2e-4);
}

TEST(pf2lora, takes_each_derivative_at_its_point_and_on_its_batch) {
  const small_case c;
  using rows = two_level_loss::rows;
  const rows batch[] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}};
  const auto expected = [&](const rows& inner, const rows& outer,
                            const rows& along, const rows& curve) {
    const auto next = c.moved(inner);
    auto h = c.loss.gradient(c.x, next, outer);
    const auto v = c.loss.gradient(next, c.x, along);
    constexpr double step = 1e-4;
    auto above = c.y, below = c.y; // The old one.
    for (std::size_t j = 0; j < v.size(); ++j) {
      above.values[j] += step * v[j];
      below.values[j] -= step * v[j];
    }
    const auto high = c.loss.gradient(c.x, above, curve);
    const auto low = c.loss.gradient(c.x, below, curve);
    for (std::size_t j = 0; j < h.size(); ++j)
      h[j] -= inner_rate * (high[j] - low[j]) / (2 * step);
    return h;
  };
  expect_near(direction_of(c.trained(3, ranks(2, 1))),
              expected(batch[0], batch[1], batch[1], batch[0]), 1e-3);
  expect_near(direction_of(c.trained(3, with(ranks(2, 1), "four_batches", 1))),
              expected(batch[0], batch[1], batch[2], batch[3]), 1e-3);
}

TEST(pf2lora, moves_its_own_adapter_by_plain_descent) {
  const small_case c;
  auto how = one_step();
  how.momentum = 0.9; // Of the common one alone; so the decay.
  how.weight_decay = 0.5;
  const auto out = trained_by(
    adapter_site{{.problem = c.problem, .how = how, .said = ranks(2, 1)}},
    c.common, c.own);
  const auto own = out.next.blocks.at("own_adapter").own_view();
  expect_near({own.begin(), own.end()},
              c.moved(c.problem->clients.train[0]).values, 1e-5);
}

TEST(pf2lora, with_nothing_of_its_own_is_homlora_to_the_bit) {
  const small_case c;
  auto how = one_step();
  how.local_steps = 5;
  const std::vector<float> nothing(7);
  const auto two = trained_by(
    adapter_site{{.problem = c.problem, .how = how, .said = ranks(2, 1)}},
    c.common, nothing);
  const auto one = trained_by(adapter_site{{.method = "homlora",
                                            .problem = c.problem,
                                            .how = how,
                                            .said = {{"rank", 2}}}},
                              c.common, nothing);
  EXPECT_EQ(*two.parts[0].delta, *one.parts[0].delta);
  const auto kept = two.next.blocks.at("own_adapter").own_view();
  EXPECT_EQ(std::vector<float>(kept.begin(), kept.end()), nothing);
}

TEST(pf2lora, without_the_correction_is_of_first_order_where_the_rate_is_none) {
  const small_case c;
  const auto still = with(ranks(2, 1), "inner_rate", 0);
  EXPECT_EQ(*c.trained(0, still).parts[0].delta,
            *c.trained(0, with(still, "first_order", 1)).parts[0].delta);
}

// Specification, 8.5: what is left of the bias after the correction. Here
// f = a (x + y - c)^2 / 2 a coordinate: y* = c - x, where f has no slope.
TEST(pf2lora, removes_as_much_bias_as_the_theory_says) {
  quadratic_setting how{.method = *policies::find_recipe("pf2lora"),
                        .how = one_step(),
                        .problem = {.dimension = 4, .clients = 1}};
  how.how.method = with_defaults(how.method);
  how.how.method["inner_rate"] = inner_rate;
  quadratic_federation federation{how};
  auto x = federation.visit(1, 9);
  x.fetched[0].values = share({1, 2, -1, 0.5f});
  x.state = keeping({0.5f, -1, 2, 0.25f});
  models::quadratic model{models::make_quadratic_problem(how.problem)};
  const auto frozen =
    models::frozen_values(model, how.method, 1).at("model").copy();
  const auto out = federation.trainer().train(x);
  ASSERT_TRUE(out) << out.error().context;
  const auto found = direction_of(*out);
  const auto& problem = federation.problem();
  for (std::size_t j = 0; j < 4; ++j) {
    const auto a = problem.curvature[j];
    const auto error =
      static_cast<double>(frozen[j])
      + static_cast<double>((*x.fetched[0].values)[j])
      + static_cast<double>(x.state->blocks.at("own_adapter").own_view()[j])
      - problem.row_centre[j];
    const auto left = 1 - inner_rate * a;
    EXPECT_NEAR(found[j], a * left * left * error, 1e-4) << j;
  }
}

TEST(pf2lora, goes_on_with_the_moments_that_it_kept) {
  const small_case c;
  auto how = one_step();
  how.optimiser = models::optimiser_kind::adamw;
  const adapter_site site{
    {.problem = c.problem, .how = how, .said = ranks(2, 1)}};
  const auto first = trained_by(site, c.common, c.own);
  auto between = c.common;
  for (std::size_t j = 0; j < between.size(); ++j)
    between[j] += (*first.parts[0].delta)[j];
  const auto second = site.trainer->train(site.visit(
    between, std::make_shared<const models::client_state>(first.next)));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->next.counters.at("adapter.steps"), 2u);
  how.local_steps = 2;
  const auto both = trained_by(
    adapter_site{{.problem = c.problem, .how = how, .said = ranks(2, 1)}},
    c.common, c.own);
  for (std::size_t j = 0; j < between.size(); ++j)
    EXPECT_NEAR((*first.parts[0].delta)[j] + (*second->parts[0].delta)[j],
                (*both.parts[0].delta)[j], 1e-5);
  EXPECT_EQ(both.next.moments.size(), 2u);
}

// Specification, A2: T = 20 and I = 10.
TEST(pf2lora, averages_as_printed_or_after_whole_rounds) {
  const small_case c;
  const auto averages = [&](double printed) {
    auto how = one_step();
    how.local_steps = 10;
    how.optimiser = models::optimiser_kind::adamw;
    const adapter_site site{
      {.problem = c.problem,
       .how = how,
       .said = with(ranks(2, 1), "printed_schedule", printed)}};
    std::vector<std::uint64_t> after;
    for (auto x = site.visit(c.common);;) {
      const auto planned = site.trainer->steps(x);
      const auto out = site.trainer->train(x);
      EXPECT_TRUE(out) << out.error().context;
      EXPECT_EQ(out->steps, planned);
      // AdamW counts the steps of a client's whole life.
      const auto steps = out->next.counters.at("adapter.steps");
      if (steps > 20)
        return after;
      after.push_back(steps - 1);
      x.state = std::make_shared<const models::client_state>(out->next);
    }
  };
  EXPECT_THAT(averages(1), ::testing::ElementsAre(0, 10));
  EXPECT_THAT(averages(0), ::testing::ElementsAre(9, 19));
}

TEST(pf2lora, reports_the_ranks_of_clients_and_of_layers) {
  const auto problem = linear_problem(4, 3, 12, 5);
  const adapter_site site{{.problem = problem,
                           .how = one_step(),
                           .said = ranks(2, 1),
                           .model = std::make_unique<models::regression>(
                             problem, std::vector<std::size_t>{5}),
                           .clients = problem->clients}};
  const auto common = models::draw(2 * (4 + 5) + 2 * (5 + 3), 1);
  const auto out = site.trainer->train(
    site.visit(common, keeping(models::draw(4 + 5 + 5 + 3, 2))));
  ASSERT_TRUE(out) << out.error().context;
  const auto found = site.trainer->evaluate(
    {.versions = site.visit(common).fetched,
     .per_client = true,
     .states = {
       {{1}, std::make_shared<const models::client_state>(out->next)}}});
  ASSERT_TRUE(found) << found.error().context;
  for (const std::string moment : {"rank_pre", "rank_post"}) {
    double sum = 0;
    for (const auto* layer : {"hidden1.weight", "output.weight"}) {
      const auto rank = found->method_results.at(moment + '.' + layer);
      EXPECT_GE(rank, 1);
      EXPECT_LE(rank, 3);
      sum += rank;
    }
    EXPECT_EQ(found->method_results.at(moment + ".1"), sum / 2);
    EXPECT_EQ(found->method_results.at(moment), sum / 2);
  }
}

TEST(pf2lora, that_has_lost_its_own_adapter_starts_anew_and_is_counted) {
  const small_case c;
  const adapter_site site{
    {.problem = c.problem, .how = one_step(), .said = ranks(2, 1)}};
  const auto first = site.trainer->train(site.visit(c.common)).value();
  EXPECT_FALSE(first.next.counters.contains("own_adapter.lost"));
  auto state = first.next;
  state.blocks.erase("own_adapter");
  const auto again = site.trainer->train(
    site.visit(c.common, std::make_shared<const models::client_state>(state)));
  ASSERT_TRUE(again) << again.error().context;
  EXPECT_EQ(again->next.blocks.at("own_adapter"),
            first.next.blocks.at("own_adapter"));
  const auto found = site.trainer->evaluate(
    {.versions = site.visit(c.common).fetched,
     .per_client = true,
     .states = {
       {{1}, std::make_shared<const models::client_state>(again->next)}}});
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->method_results.at("own_adapters_lost"), 1);
  // One of another size is no adapter of this task's.
  state.blocks["own_adapter"] = personal_values{{1, 2, 3}};
  EXPECT_FALSE(site.trainer->train(
    site.visit(c.common, std::make_shared<const models::client_state>(state))));
}

TEST(pf2lora, needs_a_rank_for_what_clients_keep) {
  const auto method = *policies::find_recipe("pf2lora");
  quadratic_federation federation{
    {.method = method, .how = {.local_steps = 1, .batch_size = 0}}};
  const auto out = federation.trainer().train(federation.visit(1, 1));
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().context.find("'own_rank'"), std::string::npos);
}

} // namespace troupe::test::pf2lora_test
