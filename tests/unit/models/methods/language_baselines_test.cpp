// What CoMiGS is compared with, where whole models are composed: which factor
// travels, whose line is whose, and what is fused in the end.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/adapters/factor_halves.hpp"
#include "tests/support/adapter_site.hpp"
#include "tests/support/low_rank_federation.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::test::language_baselines_test {

namespace {

using floats = std::vector<float>;
using state_pointer = std::shared_ptr<const models::client_state>;

constexpr std::size_t outer_size = 12;
constexpr std::size_t inner_size = 16;
constexpr std::size_t own_size = 3 * (3 + 4); ///< Of rank 3.

/// 4 inputs, 3 targets: an adapter of rank 4 has 12 values of u and then 16 of
/// v. Client 1 has the first nine of twelve rows, and looks at these again
/// where it should look at others: what fits fits there, too.
std::shared_ptr<const models::regression_problem> watched_problem() {
  auto x = *linear_problem(4, 3, 12, 5);
  x.clients.train = {{0, 1, 2, 3, 4, 5, 6, 7, 8}};
  x.clients.own_validation = x.clients.train;
  return std::make_shared<const models::regression_problem>(std::move(x));
}

models::training_options steps_at(double rate) {
  models::training_options how;
  how.local_steps = 3;
  how.batch_size = 0;
  how.learning_rate = rate;
  return how;
}

adapter_site site_of(std::string_view method, double rate, options said = {},
                     models::training_options how = {}) {
  said["rank"] = 4;
  const auto steps = steps_at(rate);
  how.local_steps = steps.local_steps;
  how.batch_size = steps.batch_size;
  how.learning_rate = steps.learning_rate;
  return adapter_site{{.method = method,
                       .problem = watched_problem(),
                       .how = how,
                       .said = std::move(said)}};
}

models::trained trained(const adapter_site& site,
                        const models::visit_input& x) {
  const auto out = site.trainer->train(x);
  EXPECT_TRUE(out) << out.error().context;
  return out ? *out : models::trained{};
}

floats kept(const models::trained& x, const char* name) {
  const auto found = x.next.blocks.find(name);
  EXPECT_NE(found, x.next.blocks.end()) << name;
  if (found == x.next.blocks.end())
    return {};
  const auto values = found->second.own_view();
  return {values.begin(), values.end()};
}

state_pointer keeping_as(const char* name, const floats& values) {
  auto state = std::make_shared<models::client_state>();
  state->blocks[name] = personal_values{values};
  return state;
}

floats part(const floats& xs, std::size_t from, std::size_t count) {
  const auto first = xs.begin() + static_cast<std::ptrdiff_t>(from);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

floats outer_of(const floats& adapter) {
  return part(adapter, 0, outer_size);
}

floats inner_of(const floats& adapter) {
  return part(adapter, outer_size, inner_size);
}

double distance(const floats& a, const floats& b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t j = 0; j < std::min(a.size(), b.size()); ++j)
    most = std::max(
      most, std::abs(static_cast<double>(a[j]) - static_cast<double>(b[j])));
  return most;
}

} // namespace

// AdamW would move by its decay what has no slope.
TEST(ffa_lora, leaves_inner_factors_as_they_began) {
  models::training_options how;
  how.optimiser = models::optimiser_kind::adamw;
  how.weight_decay = 0.5;
  const auto site = site_of("ffa_lora", 0.01, {}, how);
  const auto outer = models::draw(outer_size, 1);
  const auto out = trained(site, site.visit(outer));
  ASSERT_EQ(out.parts.size(), 1u);
  EXPECT_EQ(out.parts[0].delta->size(), outer_size);
  const auto left = kept(out, "adapter");
  const auto plan =
    models::adapters_for(
      site.method, models::regression{watched_problem(), {}}.parameter_list(),
      {{"rank", 4}})
      .value();
  EXPECT_EQ(inner_of(left),
            models::initial_half(*plan, models::inner_factors_family, 1));
  EXPECT_GT(distance(outer_of(left), outer), 1e-3);
  EXPECT_EQ(out.next.moments.at("outer_factors.first").own_view().size(),
            outer_size);
}

TEST(ffa_lora, merges_outer_factors_by_their_plain_mean) {
  const auto problem = models::make_low_rank_problem({.seed = 7});
  const way how{"ffa_lora", 0.005, {{"rank", 4}}};
  low_rank_federation x{problem, how, 1};
  x.rounds(2);
  const auto left = [&](std::uint64_t client) {
    const auto values =
      x.loop().state({client})->blocks.at("adapter").own_view();
    return floats(values.begin(), values.begin() + 40);
  };
  auto mean = left(1);
  for (std::size_t j = 0; j < mean.size(); ++j)
    mean[j] = (mean[j] + left(2)[j]) / 2;
  EXPECT_GT(distance(left(1), left(2)), 1e-3);
  EXPECT_LT(distance(x.loop().values("outer_factors").copy(), mean), 1e-5);
}

TEST(fedsa_lora, offers_inner_factors_and_begins_with_its_own_outer_ones) {
  const auto still = site_of("fedsa_lora", 0);
  const auto own = models::draw(outer_size + inner_size, 1);
  const auto inner = models::draw(inner_size, 2);
  const auto found =
    trained(still, still.visit(inner, keeping_as("adapter", own)));
  EXPECT_EQ(outer_of(kept(found, "adapter")), outer_of(own));
  EXPECT_EQ(inner_of(kept(found, "adapter")), inner);
  const auto site = site_of("fedsa_lora", 0.01);
  const auto out = trained(site, site.visit(inner, keeping_as("adapter", own)));
  ASSERT_EQ(out.parts.size(), 1u);
  EXPECT_EQ(out.parts[0].delta->size(), inner_size);
  const auto left = kept(out, "adapter");
  EXPECT_GT(distance(outer_of(left), outer_of(own)), 1e-3);
  for (std::size_t j = 0; j < inner_size; ++j)
    EXPECT_EQ((*out.parts[0].delta)[j], inner_of(left)[j] - inner[j]) << j;
}

TEST(fedsa_lora, is_scored_as_it_was_left_and_says_what_merging_does) {
  const auto site = site_of("fedsa_lora", 0.01);
  const auto own = models::draw(outer_size + inner_size, 1);
  const auto loss_of = [&](const floats& inner, const floats& left) {
    auto state = std::make_shared<models::client_state>();
    state->blocks["adapter"] = personal_values{left};
    state->visits = 1;
    const auto x =
      site.trainer->evaluate({.versions = site.visit(inner).fetched,
                              .per_client = true,
                              .states = {{{1}, state}}});
    EXPECT_TRUE(x) << x.error().context;
    return x ? std::pair{x->per_client.at({1}).mean_loss(),
                         x->method_results.at("loss_merged")}
             : std::pair{0., 0.};
  };
  const auto inner = models::draw(inner_size, 2);
  const auto before = loss_of(inner, own);
  EXPECT_NE(before.first, before.second);
  EXPECT_EQ(loss_of(inner_of(own), own).second, before.first);
  EXPECT_EQ(loss_of(inner_of(own), own).first, before.first);
}

// Below: a line for each client.

namespace {

/// Client 1 among three lines.
models::visit_input to_lines(const adapter_site& site,
                             const std::vector<floats>& lines,
                             state_pointer state = {}) {
  auto x = site.visit(lines.at(0), std::move(state));
  for (std::size_t i = 1; i < lines.size(); ++i)
    x.fetched.push_back(
      {site.blocks.blocks.at(i).id, {0}, share(floats{lines[i]})});
  return x;
}

} // namespace

TEST(pcl, begins_with_the_mean_by_its_validation_rows_and_offers_its_line) {
  const auto site = site_of("pcl", 0, {{"lines", 3}});
  // One that says nothing, and two whose losses are beyond all others'.
  const floats nothing(outer_size + inner_size);
  auto wild = models::draw(outer_size + inner_size, 1);
  for (auto& x : wild)
    x *= 100;
  auto x = to_lines(site, {wild, nothing, wild});
  const auto chosen = site.trainer->choose(x);
  ASSERT_TRUE(chosen) << chosen.error().context;
  EXPECT_EQ(chosen->chosen, std::vector{site.blocks.find("model_of.0")->id});
  x.chosen = chosen->chosen;
  const auto out = trained(site, x);
  EXPECT_LT(distance(kept(out, "adapter"), nothing), 1e-6);
  ASSERT_EQ(out.parts.size(), 1u);
  EXPECT_EQ(out.parts[0].block, site.blocks.find("model_of.0")->id);
  EXPECT_EQ(out.parts[0].weight, 1);
}

TEST(pcl, refuses_clients_without_validation_rows_or_without_a_line) {
  auto bare = *watched_problem();
  bare.clients.own_validation.clear();
  const adapter_site site{
    {.method = "pcl",
     .problem = std::make_shared<const models::regression_problem>(bare),
     .how = steps_at(0.01),
     .said = {{"rank", 4}, {"lines", 2}}}};
  const auto line = models::draw(outer_size + inner_size, 1);
  auto x = to_lines(site, {line, line});
  const auto refused = site.trainer->train(x);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_config);
  EXPECT_EQ(refused.error().context,
            "method 'pcl' looks at validation rows of each client, and client "
            "1 has none; data that sets some aside would do");
  const auto newcomer = site.trainer->evaluate(
    {.versions = x.fetched, .per_client = false, .states = {}});
  EXPECT_TRUE(newcomer) << "nobody's lines are even";
}

// Below: two adapters, and one.

TEST(fdlora, of_one_adapter_is_homlora_to_the_bit) {
  const auto common = models::draw(outer_size + inner_size, 1);
  const auto one = site_of("fdlora", 0.01, {{"adapters", 1}, {"own_rank", 3}});
  const auto other = site_of("homlora", 0.01);
  const auto a = trained(one, one.visit(common));
  const auto b = trained(other, other.visit(common));
  EXPECT_EQ(*a.parts.at(0).delta, *b.parts.at(0).delta);
  EXPECT_EQ(kept(a, "left_adapter"), kept(b, "left_adapter"));
  EXPECT_FALSE(a.next.blocks.contains("own_adapter"));
}

TEST(fdlora, trains_both_adapters_by_one_gradient) {
  const auto common = models::draw(outer_size + inner_size, 1);
  const auto site = site_of("fdlora", 0.01, {{"own_rank", 2}});
  const auto own = models::draw(2 * (3 + 4), 2);
  const auto out = trained(site, site.visit(common, keeping(own)));
  EXPECT_GT(distance(kept(out, "own_adapter"), own), 1e-4);
  EXPECT_GT(distance(kept(out, "left_adapter"), common), 1e-4);
  ASSERT_EQ(out.parts.size(), 1u);
  EXPECT_EQ(out.parts[0].delta->size(), common.size());
  EXPECT_EQ(kept(out, "fusion"), (floats{1, 1}));
}

namespace {

/// The last visit of a run: the recipe's, in the place of the usual ones.
std::unique_ptr<models::trainer>
finisher(options said,
         std::shared_ptr<const models::regression_problem> problem =
           watched_problem()) {
  models::regression model{problem, {}};
  auto task = std::make_shared<models::local_task>();
  said["rank"] = 4;
  said["own_rank"] = 3;
  task->method =
    policies::with_options(*policies::find_recipe("fdlora"), said).value();
  task->method.roles.at(0).procedure = task->method.finish;
  task->how = steps_at(0.01);
  task->how.method = with_defaults(task->method, said);
  const auto& all = task->how.method;
  task->adapters =
    models::adapters_for(task->method, model.parameter_list(), all).value();
  task->own_adapters =
    models::own_adapters_for(task->method, model, all).value();
  task->frozen = models::frozen_values(model, task->method, 1);
  task->blocks =
    models::make_layout(task->method, models::shapes_of(model, task->adapters),
                        {.weight_max = 1024})
      .value();
  task->clients = problem->clients;
  task->test_size = problem->rows(models::split::test);
  return models::make_local_trainer(task,
                                    std::make_unique<models::regression>(
                                      problem, std::vector<std::size_t>{}),
                                    kernels::make_backend({}).value())
    .value();
}

/// A client that has left these.
state_pointer left_with(const floats& own, const floats& left) {
  auto state = std::make_shared<models::client_state>();
  state->blocks["own_adapter"] = personal_values{own};
  state->blocks["left_adapter"] = personal_values{left};
  state->visits = 1;
  return state;
}

} // namespace

TEST(fdlora, finds_in_its_last_visit_that_what_is_wild_is_of_no_use) {
  const floats nothing(own_size);
  auto wild = models::draw(outer_size + inner_size, 1);
  for (auto& x : wild)
    x *= 100;
  const auto by = finisher({});
  const auto site = site_of("fdlora", 0.01, {{"own_rank", 3}});
  const auto x = site.visit(wild, left_with(nothing, wild));
  const auto out = by->train(x);
  ASSERT_TRUE(out) << out.error().context;
  EXPECT_TRUE(out->parts.empty()) << "it offers nothing";
  EXPECT_EQ(kept(*out, "fusion"), (floats{0, 0}));
  EXPECT_EQ(out->next.counters.at("fusion.found"), 1u);
  EXPECT_EQ(kept(*out, "own_adapter"), nothing);
}

TEST(fdlora, leaves_what_it_has_where_there_is_nothing_to_look_at) {
  auto bare = *watched_problem();
  bare.clients.own_validation.clear();
  const auto by = finisher(
    {}, std::make_shared<const models::regression_problem>(std::move(bare)));
  const auto site = site_of("fdlora", 0.01, {{"own_rank", 3}});
  const auto common = models::draw(outer_size + inner_size, 1);
  const auto out =
    by->train(site.visit(common, left_with(floats(own_size), common)));
  ASSERT_TRUE(out) << out.error().context;
  EXPECT_FALSE(out->next.blocks.contains("fusion"));
  EXPECT_FALSE(out->next.counters.contains("fusion.found"));
}

TEST(fdlora, uses_all_of_an_adapter_that_is_right) {
  const auto site = site_of("homlora", 0.01);
  auto common = models::draw(outer_size + inner_size, 1);
  for (auto& x : common)
    x *= 0.3f;
  const auto by = finisher({});
  const auto at_home = [&](const models::client_state& x, const floats& now) {
    const auto found = by->evaluate(
      {.versions = site.visit(now).fetched,
       .per_client = true,
       .states = {{{1}, std::make_shared<models::client_state>(x)}}});
    EXPECT_TRUE(found) << found.error().context;
    return found ? found->per_client.at({1}).mean_loss() : 0;
  };
  for (int i = 0; i < 100; ++i) {
    const auto out = trained(site, site.visit(common));
    common = kept(out, "left_adapter");
  }
  const floats nothing(own_size);
  const auto state = left_with(nothing, common);
  const auto out = by->train(site.visit(common, state));
  ASSERT_TRUE(out) << out.error().context;
  const auto fusion = kept(*out, "fusion");
  EXPECT_EQ(fusion.at(0), 0) << "its own says nothing, and has a price";
  EXPECT_GT(fusion.at(1), 0);
  // What it uses from now on is the merged one, as far as it found.
  auto scaled = common;
  for (std::size_t j = 0; j < outer_size; ++j)
    scaled[j] *= fusion.at(1);
  EXPECT_NEAR(at_home(out->next, common),
              at_home(*left_with(nothing, scaled), common), 1e-5);
}

TEST(fdlora, fuses_the_factors_of_one_adapter) {
  const auto by = finisher({{"adapters", 1}});
  const auto site = site_of("fdlora", 0.01, {{"adapters", 1}, {"own_rank", 3}});
  const auto left = models::draw(outer_size + inner_size, 1);
  const auto merged = models::draw(outer_size + inner_size, 2);
  const auto loss_of = [&](const models::client_state& x, const floats& now) {
    const auto found = by->evaluate(
      {.versions = site.visit(now).fetched,
       .per_client = true,
       .states = {{{1}, std::make_shared<models::client_state>(x)}}});
    EXPECT_TRUE(found) << found.error().context;
    return found ? found->per_client.at({1}).mean_loss() : 0;
  };
  auto state = *left_with({}, left);
  state.blocks.erase("own_adapter");
  state.blocks["fusion"] = personal_values{floats{0.5f, -0.25f}};
  state.counters["fusion.found"] = 1;
  auto fused = left;
  for (std::size_t j = 0; j < fused.size(); ++j)
    fused[j] = 0.5f * left[j] - 0.25f * merged[j];
  auto plain = *left_with({}, fused);
  plain.blocks.erase("own_adapter");
  EXPECT_NEAR(loss_of(state, merged), loss_of(plain, merged), 1e-4);
}

} // namespace troupe::test::language_baselines_test
