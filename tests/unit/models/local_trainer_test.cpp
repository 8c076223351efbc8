#include "models/local_trainer.hpp"
#include "models/visit/visit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/tasks/noop.hpp"
#include "models/tasks/quadratic.hpp"
#include "tests/support/quadratic_federation.hpp"
#include "tests/support/small_recipes.hpp"

namespace troupe::test::local_trainer_test {

namespace {

using namespace models;

const quadratic_options problem{
  .dimension = 2, .clients = 3, .rows_per_client = 4, .noise = 0.5};

/// A quadratic with one float buffer, a running mean of the loss, and a failure
/// that comes when a gradient has been added already.
class counting_quadratic : public quadratic {
public:
  using quadratic::quadratic;

  const tensor_list& buffer_list() const noexcept override {
    return list_;
  }

  std::span<float> buffers() noexcept override {
    return mean_;
  }

  std::vector<float> initial_buffers() override {
    return {0.5f};
  }

  result<double> backward(std::span<const std::uint32_t> rows,
                          std::uint64_t seed) override {
    auto loss = quadratic::backward(rows, seed);
    mean_[0] = 0.9f * mean_[0] + 0.1f * static_cast<float>(*loss);
    if (fail_once && ++steps_ == 2) {
      fail_once = false;
      return fail(errc::device_failure, "planted");
    }
    return loss;
  }

  bool fail_once = false;

private:
  tensor_list list_{{"mean", {1}}};
  std::vector<float> mean_{0.5f};
  int steps_ = 0;
};

struct setting {
  recipe method = shared_model("sgd");
  training_options how = {.local_epochs = 2, .batch_size = 3, .method = {}};
  attack attackers = {};
  std::vector<double> weights = {};
  std::vector<std::uint32_t> validation = {};
  method_table table = local_methods();
};

struct site {
  std::shared_ptr<const quadratic_problem> world =
    make_quadratic_problem(problem);
  std::shared_ptr<const local_task> task;
  std::unique_ptr<trainer> worker;
  counting_quadratic* model = nullptr;
};

site make_site(setting how) {
  site x;
  auto model = std::make_unique<counting_quadratic>(x.world);
  x.model = model.get();
  const auto blocks =
    make_layout(how.method, shapes_of(*model), {.weight_max = 4});
  EXPECT_TRUE(blocks);
  auto clients = partition_of(*x.world);
  clients.validation = how.validation;
  x.task =
    std::make_shared<const local_task>(local_task{.method = how.method,
                                                  .blocks = *blocks,
                                                  .how = how.how,
                                                  .clients = clients,
                                                  .test_size = problem.clients,
                                                  .weights = how.weights,
                                                  .attackers = how.attackers,
                                                  .table = how.table});
  auto worker =
    make_local_trainer(x.task, std::move(model), *kernels::make_backend({}));
  EXPECT_TRUE(worker);
  x.worker = std::move(*worker);
  return x;
}

visit_input visit_to(const site& x, std::uint64_t client,
                     std::shared_ptr<const client_state> state = nullptr) {
  visit_input v{.visit = {{client}, {1}},
                .seed = 5,
                .fetched = {},
                .chosen = {},
                .state = std::move(state)};
  for (const auto& [name, values] : initial_values(*x.model, x.task->blocks, 1))
    v.fetched.push_back({x.task->blocks.find(name)->id, {}, values});
  return v;
}

} // namespace

TEST(local_trainer, the_schedule_follows_the_run_s_progress) {
  setting falling{.how = {.local_epochs = 2,
                          .batch_size = 3,
                          .schedule = policies::cosine_schedule{},
                          .method = {}}};
  const auto moved = [](const setting& how, double progress) {
    auto x = make_site(how);
    auto visit = visit_to(x, 1);
    visit.progress = progress;
    const auto done = x.worker->train(visit);
    EXPECT_TRUE(done);
    return done->parts.front().delta.copy();
  };
  EXPECT_EQ(moved(falling, 0), moved({}, 0.7));
  EXPECT_NE(moved(falling, 0.5), moved(falling, 0));
  for (const float x : moved(falling, 1))
    EXPECT_NEAR(x, 0, 1e-12);
}

TEST(local_trainer, averages_buffers_beside_the_model) {
  auto x = make_site({});
  const auto done = x.worker->train(visit_to(x, 2));
  ASSERT_TRUE(done);
  ASSERT_EQ(done->parts.size(), 2u);
  EXPECT_EQ(done->parts[1].weight, 4);
  EXPECT_EQ((*done->parts[1].delta)[0], x.model->buffers()[0] - 0.5f);
  EXPECT_TRUE(done->next.blocks.empty());
}

TEST(local_trainer, keeps_personal_buffers_at_home) {
  auto x = make_site({.method = shared_model("sgd", scope::personal)});
  const auto first = x.worker->train(visit_to(x, 2));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->parts.size(), 1u);
  const auto kept = first->next.blocks.at("model.buffers").own_view()[0];
  EXPECT_EQ(kept, x.model->buffers()[0]);
  EXPECT_NE(kept, 0.5f);
  // The next visit goes on from there, another client does not.
  const auto state = std::make_shared<const client_state>(first->next);
  const auto second = x.worker->train(visit_to(x, 2, state));
  EXPECT_NE(second->next.blocks.at("model.buffers").own_view()[0], kept);
  EXPECT_EQ(x.worker->train(visit_to(x, 2))->next, first->next);
}

TEST(local_trainer, begins_each_visit_with_frozen_buffers) {
  auto x = make_site({.method = shared_model("sgd", scope::frozen)});
  const auto first = x.worker->train(visit_to(x, 2));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->parts.size(), 1u);
  EXPECT_TRUE(first->next.blocks.empty());
  const auto after = x.model->buffers()[0];
  ASSERT_TRUE(x.worker->train(visit_to(x, 2)));
  EXPECT_EQ(x.model->buffers()[0], after);
}

TEST(local_trainer, keeps_the_buffers_of_the_own_model_apart) {
  auto x = make_site({.method = own_model("two_stage_sgd", true)});
  const auto done = x.worker->train(visit_to(x, 1));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->parts.size(), 2u);
  EXPECT_TRUE(done->next.blocks.contains("own_model"));
  EXPECT_TRUE(done->next.blocks.contains("own_model.buffers"));
  EXPECT_FALSE(done->next.blocks.contains("model.buffers"));
}

TEST(local_trainer, forgets_what_a_failed_visit_left_in_the_gradient) {
  auto x = make_site({});
  const auto expected = x.worker->train(visit_to(x, 1));
  x.model->fail_once = true;
  const auto failed = x.worker->train(visit_to(x, 1));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().context, "planted");
  const auto again = x.worker->train(visit_to(x, 1));
  ASSERT_TRUE(expected && again);
  EXPECT_EQ(*again->parts[0].delta, *expected->parts[0].delta);
}

TEST(local_trainer, gives_the_weights_of_the_configuration) {
  auto x = make_site({.weights = {1, 2.5, 3}});
  EXPECT_EQ(x.worker->train(visit_to(x, 2))->parts[0].weight, 2.5);
  EXPECT_EQ(x.worker->examples({2}), 4u);
  EXPECT_EQ(x.worker->examples({4}), 0u);
}

TEST(local_trainer, lets_attackers_alone_scale_what_they_learned) {
  auto honest = make_site({});
  auto x = make_site({.attackers = {.clients = {{2}}, .scale = -10}});
  const auto truth = honest.worker->train(visit_to(honest, 2));
  const auto lie = x.worker->train(visit_to(x, 2));
  ASSERT_TRUE(truth && lie);
  for (std::size_t i = 0; i < truth->parts.size(); ++i)
    for (std::size_t j = 0; j < truth->parts[i].delta->size(); ++j)
      EXPECT_EQ((*lie->parts[i].delta)[j], -10 * (*truth->parts[i].delta)[j]);
  EXPECT_EQ(*x.worker->train(visit_to(x, 1))->parts[0].delta,
            *honest.worker->train(visit_to(honest, 1))->parts[0].delta);
}

TEST(local_trainer, shortens_what_all_deltas_together_are_too_long) {
  auto free = make_site({});
  setting bounded;
  bounded.how.norm_max = 1e-3;
  auto x = make_site(bounded);
  const auto norm_of = [](const trained& y) {
    double squares = 0;
    for (const auto& part : y.parts)
      for (const auto v : *part.delta)
        squares += double{v} * v;
    return std::sqrt(squares);
  };
  const auto whole = free.worker->train(visit_to(free, 2));
  const auto shortened = x.worker->train(visit_to(x, 2));
  ASSERT_TRUE(whole && shortened);
  ASSERT_GT(norm_of(*whole), 0.01);
  EXPECT_LE(norm_of(*shortened), 1e-3);
  EXPECT_GT(norm_of(*shortened), 0.9999e-3);
  const auto factor = norm_of(*shortened) / norm_of(*whole);
  for (std::size_t i = 0; i < whole->parts.size(); ++i)
    for (std::size_t j = 0; j < whole->parts[i].delta->size(); ++j)
      EXPECT_NEAR((*shortened->parts[i].delta)[j],
                  factor * (*whole->parts[i].delta)[j], 1e-8);
}

TEST(local_trainer, leaves_attackers_out_of_the_bound) {
  setting how{.attackers = {.clients = {{2}}, .scale = -10}};
  how.how.norm_max = 1e-3;
  auto x = make_site(how);
  const auto lie = x.worker->train(visit_to(x, 2));
  ASSERT_TRUE(lie);
  double squares = 0;
  for (const auto& part : lie->parts)
    for (const auto v : *part.delta)
      squares += double{v} * v;
  EXPECT_NEAR(std::sqrt(squares), 1e-2, 1e-5);
}

TEST(local_trainer, scores_validation_rows_apart_from_the_test_set) {
  setting how;
  how.validation = {3, 7};
  auto x = make_site(how);
  const auto versions = visit_to(x, 1).fetched;
  const auto scored = x.worker->evaluate({.versions = versions, .states = {}});
  ASSERT_TRUE(scored);
  EXPECT_EQ(scored->validation.count, 2u);
  quadratic alone{x.world};
  std::ranges::copy(*versions[0].values, alone.parameters().begin());
  EXPECT_EQ(scored->validation.loss,
            alone.evaluate(split::train, how.validation)->loss);
  EXPECT_NE(scored->validation.mean_loss(), scored->global.mean_loss());
}

TEST(local_trainer, scores_the_global_model_on_the_whole_test_set) {
  auto x = make_site({});
  evaluation_input asked{.versions = visit_to(x, 1).fetched, .states = {}};
  auto scored = x.worker->evaluate(asked);
  ASSERT_TRUE(scored);
  EXPECT_EQ(scored->global.count, 3u);
  EXPECT_TRUE(scored->per_client.empty());
  asked.per_client = true;
  scored = x.worker->evaluate(asked);
  ASSERT_TRUE(scored);
  ASSERT_EQ(scored->per_client.size(), 3u);
  scores sum;
  for (const auto& [client, part] : scored->per_client)
    sum += part;
  EXPECT_NEAR(sum.loss, scored->global.loss, 1e-9);
}

TEST(local_trainer, scores_clients_with_their_own_model_where_they_have_one) {
  auto x = make_site({.method = own_model("own_sgd", false)});
  evaluation_input asked{
    .versions = visit_to(x, 1).fetched, .per_client = true, .states = {}};
  const auto before = x.worker->evaluate(asked);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->global.count, 0u) << "there is no global model";
  client_state at_centre;
  at_centre.blocks["own_model"] =
    personal_values{{static_cast<float>(x.world->centre[2]),
                     static_cast<float>(x.world->centre[3])}};
  asked.states[{2}] = std::make_shared<const client_state>(at_centre);
  const auto after = x.worker->evaluate(asked);
  ASSERT_TRUE(after);
  EXPECT_NEAR(after->per_client.at({2}).loss, 0, 1e-9);
  EXPECT_GT(before->per_client.at({2}).loss, 1e-3);
  EXPECT_EQ(after->per_client.at({1}).loss, before->per_client.at({1}).loss);
}

TEST(local_trainer, scores_each_client_as_its_role_does) {
  setting how;
  how.method.roles = {{.name = "first", .procedure = {"sgd"}, .members = 1},
                      {.name = "others", .procedure = {"own_sgd"}}};
  how.table["sgd"].home = [](visit& v) -> task<done> {
    std::ranges::fill(v.parameters().host(), 1.f);
    co_return {};
  };
  how.table["own_sgd"].home = [](visit& v) -> task<done> {
    std::ranges::fill(v.parameters().host(), 2.f);
    co_return {};
  };
  auto x = make_site(how);
  const auto scored = x.worker->evaluate(
    {.versions = visit_to(x, 1).fetched, .per_client = true, .states = {}});
  ASSERT_TRUE(scored);
  quadratic alone{x.world};
  const auto loss_at = [&](float where, std::uint64_t client) {
    std::ranges::fill(alone.parameters(), where);
    return alone.evaluate(split::test, x.task->clients.test[client - 1])->loss;
  };
  EXPECT_EQ(scored->per_client.at({1}).loss, loss_at(1, 1));
  EXPECT_EQ(scored->per_client.at({2}).loss, loss_at(2, 2));
  EXPECT_EQ(scored->per_client.at({3}).loss, loss_at(2, 3));
  EXPECT_NEAR(scored->global.loss,
              loss_at(2, 1) + loss_at(2, 2) + loss_at(2, 3), 1e-9)
    << "a newcomer is no member of a role";
}

TEST(local_trainer, evaluation_changes_no_visit) {
  auto x = make_site({});
  const auto expected = x.worker->train(visit_to(x, 1));
  evaluation_input asked{
    .versions = visit_to(x, 1).fetched, .per_client = true, .states = {}};
  ASSERT_TRUE(x.worker->evaluate(asked));
  const auto again = x.worker->train(visit_to(x, 1));
  ASSERT_TRUE(expected && again);
  EXPECT_EQ(*again->parts[0].delta, *expected->parts[0].delta);
}

TEST(local_trainer, names_the_procedures_that_there_are) {
  setting how{.method = shared_model("sdg")};
  auto world = make_quadratic_problem(problem);
  auto task = std::make_shared<local_task>();
  task->method = how.method;
  const auto made =
    make_local_trainer(task, std::make_unique<quadratic>(world), nullptr);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::invalid_config);
  EXPECT_TRUE(made.error().context.starts_with(
    "recipe 'sdg on a shared model', role 'all': there is no local procedure "
    "'sdg'; there are apart, averaged_sgd, "))
    << made.error().context;
}

TEST(local_trainer, refuses_a_client_without_data_here) {
  auto x = make_site({});
  const auto done = x.worker->train(visit_to(x, 4));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().context,
            "client 4 has no data here; there are clients 1 to 3");
}

TEST(local_trainer, says_which_block_a_visit_did_not_fetch) {
  auto x = make_site({});
  auto visit = visit_to(x, 1);
  visit.fetched.pop_back();
  const auto done = x.worker->train(visit);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().context,
            "the visit did not fetch block 'model.buffers'; "
            "a leg of the recipe must name it");
}

TEST(noop_trainer, offers_the_same_values_of_every_block_each_time) {
  auto x = make_site({});
  noop_trainer idle{x.task->blocks, {.value = 0.25f, .weight = 2}};
  const auto one = idle.train(visit_to(x, 1));
  const auto two = idle.train(visit_to(x, 2));
  ASSERT_TRUE(one && two);
  ASSERT_EQ(one->parts.size(), 2u);
  EXPECT_EQ(*one->parts[0].delta, std::vector<float>(2, 0.25f));
  EXPECT_EQ(one->parts[0].delta, two->parts[0].delta) << "one vector for all";
  EXPECT_EQ(one->parts[1].weight, 2);
}

TEST(noop_trainer, offers_only_what_was_chosen) {
  auto x = make_site({});
  noop_trainer idle{x.task->blocks, {}};
  auto visit = visit_to(x, 1);
  visit.chosen = {{2}};
  const auto done = idle.train(visit);
  ASSERT_TRUE(done);
  ASSERT_EQ(done->parts.size(), 1u);
  EXPECT_EQ(done->parts[0].block, block_id{2});
}

} // namespace troupe::test::local_trainer_test
