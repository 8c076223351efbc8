// The common model as visits meet it: live with frozen values, whoever trains.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "models/local_trainer.hpp"
#include "models/tasks/quadratic.hpp"
#include "models/visit/visit.hpp"
#include "tests/support/moving_statistics.hpp"
#include "tests/support/small_data.hpp"
#include "tests/support/small_recipes.hpp"
#include "tests/support/softmax_objective.hpp"

namespace troupe::test::common_model_test {

namespace {

using namespace models;

const quadratic_options problem{
  .dimension = 2, .clients = 3, .rows_per_client = 4, .noise = 0.5};

const std::vector<float> common_values{0.25f, -2};

/// Trains as usual, and discloses what the common model sees and is.
task<done> look_and_train(visit& v) {
  auto& common = *v.on.common;
  std::vector<float> seen(v.on.rows.size() * common.width());
  co_await common.embed(split::train, v.on.rows, seen);
  v.out.disclosures["seen"] = {seen.begin(), seen.end()};
  const auto live = common.model().parameters();
  v.out.disclosures["common"] = {live.begin(), live.end()};
  const auto buffers = common.model().buffers();
  v.out.disclosures["buffers"] = {buffers.begin(), buffers.end()};
  const auto base = co_await v.take();
  v.out.loss = co_await v.descend(v.plan.steps, v.in.seed);
  co_await v.offer_model(base);
  co_return {};
}

struct site {
  std::shared_ptr<const quadratic_problem> world =
    make_quadratic_problem(problem);
  std::shared_ptr<local_task> task = std::make_shared<local_task>();

  site() {
    const quadratic model{world};
    task->method = shared_model("look");
    task->blocks =
      *make_layout(task->method, shapes_of(model), {.weight_max = 4});
    task->how = {.local_epochs = 2, .batch_size = 3, .method = {}};
    task->clients = partition_of(*world);
    task->test_size = problem.clients;
    task->frozen["common"] = share(common_values);
    task->make_common = [x = world]() -> result<std::unique_ptr<objective>> {
      return std::make_unique<moving_statistics>(x);
    };
    task->embedded = std::make_shared<embedding_table>();
    task->table["look"] = {.train = look_and_train};
  }

  result<std::unique_ptr<trainer>> make() const {
    return make_local_trainer(task, std::make_unique<quadratic>(world),
                              *kernels::make_backend({}));
  }

  visit_input visit_to(std::uint64_t client) const {
    visit_input v{.visit = {{client}, {1}},
                  .seed = 5,
                  .fetched = {},
                  .chosen = {},
                  .state = nullptr};
    quadratic model{world};
    for (const auto& [name, values] : initial_values(model, task->blocks, 1))
      v.fetched.push_back({task->blocks.find(name)->id, {}, values});
    return v;
  }
};

std::string refusal(const site& x, errc code) {
  const auto made = x.make();
  if (made)
    return "accepted";
  EXPECT_EQ(made.error().code, code);
  return made.error().context;
}

std::vector<double> in_double(const std::vector<float>& x) {
  return {x.begin(), x.end()};
}

} // namespace

TEST(common_model, is_embedded_once_and_never_changes) {
  const site x;
  const auto one = x.make(), two = x.make();
  ASSERT_TRUE(one && two);
  for (int round = 0; round < 2; ++round)
    for (std::uint64_t client = 1; client <= 3; ++client)
      for (const auto* by : {&one, &two}) {
        const auto done = (**by)->train(x.visit_to(client));
        ASSERT_TRUE(done) << done.error().context;
        EXPECT_EQ(done->disclosures.at("common"), in_double(common_values));
        const auto& seen = done->disclosures.at("seen");
        ASSERT_EQ(seen.size(), 8u);
        for (std::size_t i = 0; i < seen.size(); ++i)
          EXPECT_EQ(seen[i], static_cast<float>(
                               x.world->row_centre[(client - 1) * 8 + i]));
        EXPECT_NE((*done->parts.front().delta)[0], 0);
      }
  EXPECT_EQ(x.task->embedded->made(), 12u);
}

TEST(common_model, has_the_buffers_that_are_frozen_or_fresh_ones) {
  site x;
  const auto found = [&] {
    const auto by = x.make();
    EXPECT_TRUE(by);
    return (*by)->train(x.visit_to(1))->disclosures.at("buffers");
  };
  EXPECT_EQ(found(), (std::vector<double>{0.5, 1}));
  x.task->frozen["common.buffers"] = share({3, 4});
  EXPECT_EQ(found(), (std::vector<double>{3, 4}));
}

TEST(common_model, is_not_there_where_nobody_makes_it) {
  site x;
  x.task->make_common = {};
  x.task->table["look"] = {.train = [](visit& v) -> task<done> {
    EXPECT_EQ(v.on.common, nullptr);
    co_return {};
  }};
  const auto by = x.make();
  ASSERT_TRUE(by);
  EXPECT_TRUE((*by)->train(x.visit_to(1)));
}

TEST(common_model, has_rows_of_its_own_where_none_are_shared) {
  site x;
  x.task->embedded = nullptr;
  const auto by = x.make();
  ASSERT_TRUE(by);
  EXPECT_TRUE((*by)->train(x.visit_to(1)));
}

TEST(common_model, is_refused_without_embeddings) {
  site x;
  x.task->make_common = []() -> result<std::unique_ptr<objective>> {
    return std::make_unique<softmax_objective>(test::small_dataset());
  };
  EXPECT_EQ(refusal(x, errc::invalid_config),
            "method 'look on a shared model' looks at what goes into the last "
            "layer of its common model, and this kind has none; a network of "
            "the catalogue, or a script that exports 'embed', would do");
}

TEST(common_model, is_refused_with_values_of_another_size) {
  site x;
  x.task->frozen["common"] = share({1, 2, 3});
  EXPECT_EQ(refusal(x, errc::invalid_argument),
            "frozen block 'common' has 3 values where the common model here "
            "has 2");
  x.task->frozen["common"] = share(common_values);
  x.task->frozen["common.buffers"] = share({1});
  EXPECT_EQ(refusal(x, errc::invalid_argument),
            "frozen block 'common.buffers' has 1 values where the common model "
            "here has 2");
  x.task->frozen.clear();
  EXPECT_EQ(refusal(x, errc::invalid_argument),
            "there are no values of a frozen block 'common'");
}

TEST(common_model, says_why_it_cannot_be_made) {
  site x;
  x.task->make_common = []() -> result<std::unique_ptr<objective>> {
    return fail(errc::invalid_data, "planted");
  };
  EXPECT_EQ(refusal(x, errc::invalid_data), "planted");
}

} // namespace troupe::test::common_model_test
