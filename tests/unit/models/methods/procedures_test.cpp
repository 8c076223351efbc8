// The built-in procedures on quadratics, whose answers are known in closed
// form.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "models/methods/built_in.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/every_method.hpp"
#include "tests/support/small_recipes.hpp"

namespace troupe::test::procedures_test {

namespace {

using models::training_options;

/// Ten local steps of full-batch descent: enough to be biased.
const training_options descent{
  .local_steps = 10, .batch_size = 0, .learning_rate = 0.2, .method = {}};

/// Small noisy batches, with a short one at the end of each epoch.
const training_options noisy{
  .local_epochs = 3, .batch_size = 4, .learning_rate = 0.05, .method = {}};

const models::quadratic_options one_row{
  .seed = 5, .dimension = 6, .clients = 5};

const models::quadratic_options many_rows{
  .seed = 5, .dimension = 6, .clients = 5, .rows_per_client = 10, .noise = 0.5};

using values_of_blocks = std::map<std::string, std::vector<float>>;

values_of_blocks all_values(quadratic_federation& x) {
  values_of_blocks result;
  for (const auto& block : x.blocks().blocks)
    result[block.name] = x.loop().values(block.name).copy();
  return result;
}

quadratic_setting setting_of(const std::string& method) {
  auto x = noisy_setting(method, 3, {10, 10, 10, 10, 10});
  x.rows.clear(); // A test may take another problem.
  return x;
}

class every_method : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(models, every_method,
                         ::testing::ValuesIn(all_methods()),
                         [](const auto& x) { return x.param; });

} // namespace

TEST(procedures, are_all_used_by_a_method) {
  std::set<std::string> used;
  for (const auto& method : policies::catalogue()) {
    for (const auto& role : method.roles)
      used.insert(role.procedure.value);
    used.insert(method.finish.value);
    for (const auto& leg : method.legs)
      used.insert(leg.choice.value);
  }
  for (const auto& [name, unused] : models::local_methods())
    EXPECT_TRUE(used.contains(name)) << name;
}

TEST_P(every_method, gives_equal_bits_for_equal_seeds) {
  quadratic_federation one{setting_of(GetParam())};
  quadratic_federation two{setting_of(GetParam())};
  one.rounds(3);
  two.rounds(3);
  EXPECT_EQ(all_values(one), all_values(two));
  for (std::uint64_t k = 1; k <= 5; ++k)
    EXPECT_EQ(*one.loop().state({k}), *two.loop().state({k}));
  const auto a = one.trainer().train(one.visit(1, 11));
  const auto b = one.trainer().train(one.visit(1, 12));
  ASSERT_TRUE(a && b);
  EXPECT_NE(a->loss, b->loss) << "another seed is another order of batches";
}

TEST_P(every_method, does_not_depend_on_the_order_of_a_cohort) {
  quadratic_federation one{setting_of(GetParam())};
  quadratic_federation two{setting_of(GetParam())};
  for (int i = 0; i < 3; ++i) {
    one.round({1, 2, 3, 4, 5});
    two.round({4, 2, 5, 1, 3});
  }
  EXPECT_EQ(all_values(one), all_values(two));
  EXPECT_EQ(one.loop().loss(), two.loop().loss());
  for (const auto& line : one.blocks().lines)
    EXPECT_EQ(one.loop().line(line.id).back().merged,
              two.loop().line(line.id).back().merged);
}

TEST_P(every_method, takes_the_steps_that_were_planned) {
  for (const double stragglers : {0.0, 0.5}) {
    auto setting = setting_of(GetParam());
    setting.how.stragglers = stragglers;
    quadratic_federation x{setting};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto visit = x.visit(1 + seed % 5, seed);
      const auto done = x.trainer().train(visit);
      ASSERT_TRUE(done);
      EXPECT_EQ(done->steps, x.trainer().steps(visit));
      EXPECT_GT(done->steps, 0u);
    }
  }
}

TEST_P(every_method, trains_a_client_with_fewer_examples_than_a_batch) {
  auto setting = setting_of(GetParam());
  setting.how.batch_size = 1000;
  quadratic_federation x{setting};
  const auto visit = x.visit(2, 1);
  const auto done = x.trainer().train(visit);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->steps, x.trainer().steps(visit));
  EXPECT_EQ(done->steps % 3, 0u) << "an epoch is one batch";
  EXPECT_GT(done->loss, 0);
  const auto moved = [](std::span<const float> values) {
    return std::ranges::any_of(values, [](float v) { return v != 0; });
  };
  EXPECT_TRUE(done->parts.empty() ? done->next.blocks.contains("own_model")
                                  : moved(*done->parts.front().delta));
}

TEST_P(every_method, says_which_block_diverged) {
  auto setting = setting_of(GetParam());
  setting.how.learning_rate = 1e12;
  quadratic_federation x{setting};
  const auto done = x.trainer().train(x.visit(1, 1));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::diverged);
  EXPECT_NE(done.error().context.find("block '"), std::string::npos)
    << done.error().context;
}

TEST_P(every_method, recovers_from_a_visit_that_diverged) {
  auto setting = setting_of(GetParam());
  quadratic_federation x{setting};
  const auto expected = x.trainer().train(x.visit(1, 1));
  auto broken = x.visit(1, 1);
  for (auto& y : broken.fetched)
    y.values = share(std::vector<float>(y.values->size(), INFINITY));
  ASSERT_FALSE(x.trainer().train(broken));
  const auto again = x.trainer().train(x.visit(1, 1));
  ASSERT_TRUE(expected && again);
  EXPECT_EQ(expected->next, again->next);
  EXPECT_EQ(expected->loss, again->loss);
}

TEST_P(every_method, does_nothing_for_a_dropped_straggler) {
  auto setting = setting_of(GetParam());
  setting.how.stragglers = 1;
  setting.how.drop_stragglers = true;
  quadratic_federation x{setting};
  const auto before = all_values(x);
  x.rounds(2);
  EXPECT_EQ(all_values(x), before);
  EXPECT_TRUE(x.loop().state({1})->blocks.empty());
  EXPECT_EQ(x.loop().state({1})->visits, 2u);
}

TEST(sgd, meets_the_biased_fixed_point_and_not_the_optimum) {
  quadratic_federation x{
    {.method = shared_model("sgd"), .how = descent, .problem = one_row}};
  x.rounds(200);
  const auto w = models::fixed_point_of_averaging(x.problem(), x.ones(),
                                                  {.rate = 0.2, .steps = 10});
  EXPECT_LT(x.distance_to(w), 1e-4);
  EXPECT_GT(x.distance_to(models::optimum(x.problem(), x.ones())), 0.05);
}

TEST(sgd, with_one_step_reaches_the_optimum) {
  auto how = descent;
  how.local_steps = 1;
  quadratic_federation x{
    {.method = shared_model("sgd"), .how = how, .problem = one_row}};
  x.rounds(500);
  EXPECT_LT(x.distance_to(models::optimum(x.problem(), x.ones())), 1e-5);
}

TEST(sgd, of_a_single_client_is_plain_descent) {
  models::quadratic_options alone{.seed = 2, .dimension = 4, .clients = 1};
  quadratic_federation x{
    {.method = shared_model("sgd"), .how = descent, .problem = alone}};
  const auto w = x.model().copy();
  x.rounds(3);
  const auto& p = x.problem();
  for (std::size_t j = 0; j < w.size(); ++j) {
    double plain = w[j];
    for (int i = 0; i < 30; ++i)
      plain -= 0.2 * p.curvature[j] * (plain - p.centre[j]);
    EXPECT_NEAR(x.model()[j], plain, 1e-5);
  }
}

TEST(sgd, offers_the_difference_to_what_it_fetched_with_its_examples) {
  quadratic_federation x{
    {.method = shared_model("sgd"), .how = noisy, .problem = many_rows}};
  auto visit = x.visit(3, 1);
  const auto near = x.trainer().train(visit);
  ASSERT_TRUE(near);
  ASSERT_EQ(near->parts.size(), 1u);
  EXPECT_EQ(near->parts[0].weight, 10);
  EXPECT_EQ(near->parts[0].rank, 0u);
  // From its own minimum a client has little to say.
  const auto centre = x.problem().mean_centre(2);
  visit.fetched[0].values =
    share(std::vector<float>(centre.begin(), centre.end()));
  auto full = noisy;
  full.batch_size = 0;
  quadratic_federation exact{
    {.method = shared_model("sgd"), .how = full, .problem = many_rows}};
  const auto still = exact.trainer().train(visit);
  ASSERT_TRUE(still);
  for (const auto v : *still->parts[0].delta)
    EXPECT_NEAR(v, 0, 1e-6);
}

TEST(proximal_sgd, at_zero_has_the_bits_of_sgd) {
  auto setting = setting_of("fedprox");
  setting.how.method["proximal"] = 0;
  setting.how.momentum = 0.5;
  auto plain = setting_of("fedavg");
  plain.how.momentum = 0.5;
  quadratic_federation one{setting};
  quadratic_federation two{plain};
  one.rounds(4);
  two.rounds(4);
  EXPECT_EQ(one.model(), two.model());
  EXPECT_EQ(one.loop().loss(), two.loop().loss());
}

TEST(proximal_sgd, follows_its_recursion) {
  quadratic_setting setting{.method = shared_model("proximal_sgd"),
                            .how = descent,
                            .problem = {.dimension = 3, .clients = 1}};
  setting.how.method["proximal"] = 2;
  quadratic_federation x{setting};
  const auto start = x.model().copy();
  x.round();
  const auto& p = x.problem();
  for (std::size_t j = 0; j < start.size(); ++j) {
    double w = start[j];
    for (int i = 0; i < 10; ++i)
      w -= 0.2 * (p.curvature[j] * (w - p.centre[j]) + 2 * (w - start[j]));
    EXPECT_NEAR(x.model()[j], w, 1e-5);
  }
}

TEST(controlled_sgd, reaches_the_optimum) {
  quadratic_federation x{
    {.method = controlled_model(), .how = descent, .problem = one_row}};
  x.rounds(300);
  EXPECT_LT(x.distance_to(models::optimum(x.problem(), x.ones())), 1e-5);
}

TEST(controlled_sgd, reaches_the_optimum_with_a_part_of_the_clients) {
  quadratic_federation x{
    {.method = controlled_model(), .how = descent, .problem = one_row}};
  for (std::uint64_t i = 0; i < 1500; ++i)
    x.round({1 + i % 5, 1 + (i + 1 + i / 5 % 4) % 5});
  EXPECT_LT(x.distance_to(models::optimum(x.problem(), x.ones())), 1e-5);
}

TEST(controlled_sgd, counts_momentum_and_decay_in_the_control_variate) {
  // Constant gradients: with a flat bowl far away the variate is the gradient.
  quadratic_setting setting{
    .method = controlled_model(),
    .how = descent,
    .problem = {.dimension = 2, .clients = 1, .conditioning = 1e6}};
  setting.how.momentum = 0.9;
  setting.how.learning_rate = 1e-6;
  quadratic_federation x{setting};
  auto visit = x.visit(1, 1);
  visit.fetched[0].values = share(std::vector<float>(2, 0.f));
  const auto done = x.trainer().train(visit);
  ASSERT_TRUE(done);
  const auto own = done->next.blocks.at("own_control").own_view();
  const auto& p = x.problem();
  for (std::size_t j = 0; j < 2; ++j)
    EXPECT_NEAR(own[j], -p.curvature[j] * p.centre[j], 1e-4);
}

TEST(controlled_sgd, keeps_the_servers_variate_the_mean_of_the_clients) {
  quadratic_federation x{setting_of("scaffold")};
  x.round({1, 2});
  x.round({2, 5});
  x.round({3, 1});
  const auto& server = x.loop().values("control");
  for (std::size_t j = 0; j < server.size(); ++j) {
    double mean = 0;
    for (const std::uint64_t k : {1, 2, 3, 5})
      mean += x.loop().state({k})->blocks.at("own_control").own_view()[j] / 5.0;
    EXPECT_NEAR(server[j], mean, 1e-6);
  }
}

TEST(controlled_sgd, refuses_an_adaptive_optimiser) {
  auto setting = setting_of("scaffold");
  setting.how.optimiser = models::optimiser_kind::adamw;
  quadratic_federation x{setting};
  const auto done = x.trainer().train(x.visit(1, 1));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::invalid_config);
}

TEST(two_stage_sgd, trains_the_shared_model_as_sgd_does) {
  quadratic_federation one{setting_of("ditto")};
  quadratic_federation two{setting_of("fedavg")};
  one.rounds(3);
  two.rounds(3);
  EXPECT_EQ(one.model(), two.model());
}

TEST(two_stage_sgd, without_a_pull_trains_the_own_model_alone) {
  auto setting = setting_of("ditto");
  setting.how.method["lambda"] = 0;
  quadratic_federation one{setting};
  quadratic_federation two{setting_of("local")};
  one.rounds(4);
  two.rounds(4);
  for (std::uint64_t k = 1; k <= 5; ++k)
    EXPECT_EQ(one.loop().state({k})->blocks.at("own_model"),
              two.loop().state({k})->blocks.at("own_model"));
}

TEST(two_stage_sgd, ends_between_the_own_and_the_shared_minimum) {
  auto setting = setting_of("ditto");
  setting.how = descent;
  setting.how.local_steps = 1;
  setting.how.method = {{"lambda", 1}};
  setting.problem = one_row;
  quadratic_federation x{setting};
  x.rounds(500);
  const auto shared = models::optimum(x.problem(), x.ones());
  const auto& p = x.problem();
  const auto own = x.loop().state({2})->blocks.at("own_model").own_view();
  for (std::size_t j = 0; j < own.size(); ++j) {
    // a (v - c) + lambda (v - w) = 0.
    const auto a = p.curvature[p.how.dimension + j];
    const auto c = p.centre[p.how.dimension + j];
    EXPECT_NEAR(own[j], (a * c + shared[j]) / (a + 1), 1e-4);
  }
}

TEST(own_sgd, offers_nothing_and_finds_each_clients_own_minimum) {
  auto setting = setting_of("local");
  setting.how = descent;
  setting.problem = one_row;
  quadratic_federation x{setting};
  const auto before = x.model().copy();
  x.rounds(100);
  EXPECT_EQ(x.model(), before);
  EXPECT_EQ(x.loop().line({1}).size(), 1u) << "nobody offers: no version";
  const auto own = x.loop().state({4})->blocks.at("own_model").own_view();
  for (std::size_t j = 0; j < own.size(); ++j)
    EXPECT_NEAR(own[j], x.problem().mean_centre(3)[j], 1e-5);
}

TEST(own_sgd, goes_on_from_where_it_was) {
  auto setting = setting_of("local");
  quadratic_federation x{setting};
  x.round();
  const auto first = x.loop().state({1});
  x.round();
  EXPECT_NE(first->blocks.at("own_model"),
            x.loop().state({1})->blocks.at("own_model"));
  EXPECT_EQ(x.loop().state({1})->visits, 2u);
}

TEST(procedures, count_the_gradients_of_two_levels) {
  const auto passes = models::local_methods().at("two_level_sgd").passes;
  const auto with = [&](options said) {
    said.try_emplace("inner_rate", 0.1);
    return passes({.method = std::move(said)});
  };
  EXPECT_EQ(with({}), 4u);
  EXPECT_EQ(with({{"four_batches", 1}}), 5u);
  for (const auto* name : {"first_order", "joint"})
    EXPECT_EQ(with({{name, 1}, {"four_batches", 1}}), 2u) << name;
  EXPECT_EQ(with({{"inner_rate", 0}}), 2u);
}

} // namespace troupe::test::procedures_test
