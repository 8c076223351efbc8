// PF2LoRA and its baselines over factors that stand inside a layer: they learn
// what they learn where adapters are composed into whole weights.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/adapter_site.hpp"
#include "tests/support/inner_regression.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::test::adapters_inside_test {

namespace {

using floats = std::vector<float>;
using pass = inner_regression::pass;

const std::string common_name = "adapter", own_name = "own_adapter";

/// A method, and what it is told beside ranks and rates.
struct variant {
  const char* method;
  options said = {};
};

const variant variants[] = {{"homlora"},
                            {"per_fedavg_lora"},
                            {"per_fedavg_lora", {{"three_batches", 1}}},
                            {"per_fedavg_lora", {{"first_order", 1}}},
                            {"pf2lora"},
                            {"pf2lora", {{"four_batches", 1}}},
                            {"pf2lora", {{"first_order", 1}}},
                            {"pf2lora", {{"joint", 1}}},
                            {"homlora", {{"alpha", 4}}},
                            {"per_fedavg_lora", {{"alpha", 1}}},
                            {"pf2lora", {{"alpha", 2}, {"alpha_over", 1}}},
                            {"hetlora",
                             {{"rank_min", 1},
                              {"rank_first", 2},
                              {"rank_last", 2},
                              {"keep_share", 0.5},
                              {"penalty", 0.5}}}};

bool has_own(const variant& x) {
  return x.method == std::string_view{"pf2lora"};
}

std::string said_of(const variant& x) {
  std::string all = x.method;
  for (const auto& [name, value] : x.said)
    all += ' ' + name + '=' + std::to_string(value);
  return all;
}

models::training_options steps_of(std::uint32_t steps, std::uint32_t batch) {
  models::training_options how;
  how.local_steps = steps;
  how.batch_size = batch;
  how.shuffle = false;
  how.learning_rate = 0.005;
  return how;
}

/// Twelve rows, 4 inputs, 3 targets; a common adapter of rank 2, own of rank 1.
struct adapted_case {
  std::shared_ptr<const models::regression_problem> problem =
    linear_problem(4, 3, 12, 5);
  floats common = models::draw(14, 1);
  floats own = models::draw(7, 2);
  double inner_rate = 0.01;

  /// @param inside what is learned; null: adapters are composed
  adapter_site site(const variant& x, const models::training_options& how,
                    std::unique_ptr<inner_regression> inside = {}) const {
    const models::regression whole{problem, {}};
    site_options made{
      .method = x.method, .problem = problem, .how = how, .said = x.said};
    made.said["rank"] = 2;
    if (x.method != std::string_view{"homlora"}
        && x.method != std::string_view{"hetlora"})
      made.said["inner_rate"] = inner_rate;
    if (has_own(x))
      made.said["own_rank"] = 1;
    // As the recipe says, over the one layer that there is.
    const auto& method = *policies::find_recipe(made.method);
    const auto said = with_defaults(method, made.said);
    made.common =
      *models::adapters_for(method, whole.parameter_list(), said).value();
    made.own = models::own_adapters_for(method, whole, said).value();
    if (inside) {
      made.model = std::move(inside);
      made.clients = problem->clients;
    }
    return adapter_site{std::move(made)};
  }

  std::unique_ptr<inner_regression> inner() const {
    return std::make_unique<inner_regression>(problem);
  }

  models::trained trained(const adapter_site& at) const {
    const auto out = at.trainer->train(at.visit(common, keeping(own)));
    EXPECT_TRUE(out) << out.error().context;
    return out ? *out : models::trained{};
  }
};

/// As far apart as rounding makes them.
void expect_alike(std::span<const float> found,
                  std::span<const float> expected) {
  ASSERT_EQ(found.size(), expected.size());
  float most = 0;
  for (const auto x : expected)
    most = std::max(most, std::abs(x));
  for (std::size_t j = 0; j < found.size(); ++j)
    EXPECT_NEAR(found[j], expected[j], 1e-5f * most) << j;
}

std::vector<double> direction_of(const models::trained& x, double rate) {
  std::vector<double> result;
  for (const float v : *x.parts.at(0).delta)
    result.push_back(-static_cast<double>(v) / rate);
  return result;
}

} // namespace

TEST(adapters_inside, learn_what_composed_ones_do) {
  const adapted_case c;
  for (const auto& x : variants)
    for (const std::uint32_t batch : {0u, 4u}) {
      SCOPED_TRACE(said_of(x) + ", batches of " + std::to_string(batch));
      const auto how = steps_of(4, batch);
      const auto expected = c.trained(c.site(x, how));
      const auto found = c.trained(c.site(x, how, c.inner()));
      ASSERT_EQ(expected.parts.size(), 1u);
      ASSERT_EQ(found.parts.size(), 1u);
      expect_alike(*found.parts[0].delta, *expected.parts[0].delta);
      EXPECT_EQ(found.parts[0].rank, expected.parts[0].rank);
      EXPECT_NEAR(found.parts[0].weight, expected.parts[0].weight, 1e-4);
      EXPECT_NEAR(found.loss, expected.loss, 1e-5 * (1 + expected.loss));
      EXPECT_EQ(found.next.counters, expected.next.counters);
      for (const auto* name : {"own_adapter", "left_adapter"}) {
        ASSERT_EQ(found.next.blocks.contains(name),
                  expected.next.blocks.contains(name));
        if (found.next.blocks.contains(name))
          expect_alike(found.next.blocks.at(name).own_view(),
                       expected.next.blocks.at(name).own_view());
      }
    }
}

// Specification, 2.2.
TEST(adapters_inside, make_the_published_scalar_step) {
  adapted_case c;
  c.problem = std::make_shared<const models::regression_problem>(
    models::regression_problem{.inputs = 1,
                               .targets = 1,
                               .train = {{1}, {3}},
                               .test = {{1}, {3}},
                               .clients = {.train = {{0}}, .test = {{0}}},
                               .has_bias = false,
                               .sums_targets = true,
                               .begins_at_zero = true});
  c.inner_rate = 0.1;
  c.common = c.own = {1, 1};
  const auto after = [&](const options& more) {
    const models::regression whole{c.problem, {}};
    const auto plan = models::planned(whole.parameter_list(), {.rank = 1});
    auto how = steps_of(1, 0);
    how.learning_rate = 0.1;
    options said{{"rank", 1}, {"own_rank", 1}, {"inner_rate", c.inner_rate}};
    said.insert(more.begin(), more.end());
    return c.trained(adapter_site{{.problem = c.problem,
                                   .how = how,
                                   .said = said,
                                   .model = c.inner(),
                                   .clients = c.problem->clients,
                                   .common = plan,
                                   .own = plan}});
  };
  const auto out = after({});
  const auto first = direction_of(after({{"first_order", 1}}), 0.1);
  const auto joint = direction_of(after({{"joint", 1}}), 0.1);
  const auto own = out.next.blocks.at("own_adapter").own_view();
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_NEAR(direction_of(out, 0.1)[j], -0.5824, 1e-5);
    EXPECT_NEAR(first[j], -1.12, 1e-5);
    // What the correction would make of it with the sign that is misprinted.
    EXPECT_NEAR(2 * first[j] - direction_of(out, 0.1)[j], -1.6576, 1e-5);
    EXPECT_NEAR(joint[j], -2, 1e-5);
    EXPECT_NEAR(own[j], 1.2, 1e-6);
  }
}

TEST(adapters_inside, with_nothing_of_its_own_are_homlora_to_the_bit) {
  adapted_case c;
  std::ranges::fill(c.own, 0.f);
  const auto how = steps_of(5, 0);
  const auto two = c.trained(c.site({"pf2lora"}, how, c.inner()));
  const auto one = c.trained(c.site({"homlora"}, how, c.inner()));
  EXPECT_EQ(*two.parts[0].delta, *one.parts[0].delta);
  const auto kept = two.next.blocks.at("own_adapter").own_view();
  EXPECT_EQ(floats(kept.begin(), kept.end()), c.own);
}

TEST(adapters_inside, are_of_first_order_where_the_rate_is_none) {
  adapted_case c;
  c.inner_rate = 0;
  const auto how = steps_of(3, 4);
  for (const auto* method : {"pf2lora", "per_fedavg_lora"}) {
    const auto still = c.trained(c.site({method}, how, c.inner()));
    const auto first =
      c.trained(c.site({method, {{"first_order", 1}}}, how, c.inner()));
    EXPECT_EQ(*still.parts[0].delta, *first.parts[0].delta) << method;
  }
  const auto meta =
    c.trained(c.site({"per_fedavg_lora"}, steps_of(3, 0), c.inner()));
  const auto plain = c.trained(c.site({"homlora"}, steps_of(3, 0), c.inner()));
  EXPECT_EQ(*meta.parts[0].delta, *plain.parts[0].delta);
}

TEST(adapters_inside, of_the_full_rank_make_hetlora_homlora_to_the_bit) {
  const adapted_case c;
  const auto how = steps_of(4, 4);
  const auto het = c.trained(c.site(
    {"hetlora",
     {{"rank_min", 2}, {"rank_first", 2}, {"rank_last", 2}, {"penalty", 0}}},
    how, c.inner()));
  const auto hom = c.trained(c.site({"homlora"}, how, c.inner()));
  EXPECT_EQ(*het.parts[0].delta, *hom.parts[0].delta);
}

// What is not asked for is not computed, and nothing is done twice.
TEST(adapters_inside, have_slopes_where_they_are_asked_for) {
  const adapted_case c;
  const pass common{{common_name}}, own{{own_name}},
    both{{common_name, own_name}}, bent{{common_name, own_name}, true},
    turned{{common_name}, true}, kept{{common_name, own_name}, false, true},
    bent_again{{common_name, own_name}, true, true};
  const auto passes = [&](const variant& x) {
    auto model = c.inner();
    const auto* seen = model.get();
    const auto at = c.site(x, steps_of(1, 3), std::move(model));
    c.trained(at);
    return seen->passes();
  };
  using list = std::vector<pass>;
  EXPECT_EQ(passes({"homlora"}), (list{common}));
  // The second derivative goes on from the first.
  EXPECT_EQ(passes({"pf2lora"}), (list{kept, both, bent_again}));
  EXPECT_EQ(passes({"pf2lora", {{"four_batches", 1}}}),
            (list{own, common, own, bent}));
  EXPECT_EQ(passes({"pf2lora", {{"first_order", 1}}}), (list{own, common}));
  EXPECT_EQ(passes({"pf2lora", {{"joint", 1}}}), (list{own, common}));
  EXPECT_EQ(passes({"per_fedavg_lora"}), (list{common, common, turned}));
  EXPECT_EQ(passes({"per_fedavg_lora", {{"three_batches", 1}}}),
            (list{common, common, turned}));
}

TEST(adapters_inside, are_scored_and_reported_as_composed_ones) {
  const adapted_case c;
  const auto how = steps_of(2, 0);
  for (const auto& x : variants) {
    SCOPED_TRACE(said_of(x));
    const auto composed = c.site(x, how);
    const auto inside = c.site(x, how, c.inner());
    const auto state =
      std::make_shared<const models::client_state>(c.trained(composed).next);
    const auto scored = [&](const adapter_site& by) {
      const auto found =
        by.trainer->evaluate({.versions = by.visit(c.common).fetched,
                              .per_client = true,
                              .states = {{{1}, state}}});
      EXPECT_TRUE(found) << found.error().context;
      return found ? *found : models::evaluated{};
    };
    const auto expected = scored(composed), found = scored(inside);
    EXPECT_NEAR(found.global.mean_loss(), expected.global.mean_loss(),
                1e-5 * (1 + expected.global.mean_loss()));
    ASSERT_TRUE(expected.per_client.contains({1}));
    const auto loss = expected.per_client.at({1}).mean_loss();
    EXPECT_NEAR(found.per_client.at({1}).mean_loss(), loss, 1e-5 * (1 + loss));
    // Of what stands inside it is thought that it foretells tokens.
    for (const auto& [name, value] : found.method_results)
      if (!name.starts_with("perplexity")) {
        EXPECT_NEAR(expected.method_results.at(name), value,
                    1e-5 * (1 + std::abs(value)))
          << name;
      }
    EXPECT_TRUE(found.method_results.contains("rank_pre"));
    EXPECT_TRUE(found.method_results.contains("loss_left"));
  }
}

// Momentum is of the common adapter alone, and goes on with the client.
TEST(adapters_inside, keep_the_moments_that_composed_ones_do) {
  const adapted_case c;
  auto how = steps_of(3, 0);
  how.momentum = 0.9;
  const auto expected = c.trained(c.site({"pf2lora"}, how));
  const auto found = c.trained(c.site({"pf2lora"}, how, c.inner()));
  ASSERT_EQ(found.next.moments.size(), expected.next.moments.size());
  for (const auto& [name, moment] : expected.next.moments)
    expect_alike(found.next.moments.at(name).own_view(), moment.own_view());
  EXPECT_EQ(found.next.counters.at("adapter.steps"), 3u);
}

} // namespace troupe::test::adapters_inside_test
