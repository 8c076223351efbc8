// A last visit is what its procedure makes of a client's state, and nothing
// else.

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "models/local_trainer.hpp"
#include "models/shapes.hpp"
#include "models/tasks/quadratic.hpp"
#include "tests/support/small_recipes.hpp"

namespace troupe::test {

namespace {

using namespace models;

std::shared_ptr<local_task> task_with(const char* finish) {
  auto task = std::make_shared<local_task>();
  task->method = shared_model("sgd");
  task->method.finish = {finish};
  return task;
}

std::unique_ptr<quadratic> model_of(const quadratic_options& how) {
  return std::make_unique<quadratic>(make_quadratic_problem(how));
}

} // namespace

TEST(last_visit, offers_nothing_whatever_its_procedure_makes) {
  const quadratic_options how{
    .dimension = 2, .clients = 3, .rows_per_client = 4, .noise = 0.5};
  auto model = model_of(how);
  auto task = task_with("sgd");
  task->blocks =
    make_layout(task->method, shapes_of(*model), {.weight_max = 4}).value();
  task->clients = partition_of(*make_quadratic_problem(how));
  task->test_size = how.clients;
  visit_input visit{.visit = {{1}, {1}},
                    .seed = 5,
                    .fetched = {},
                    .chosen = {},
                    .state = nullptr};
  for (const auto& [name, values] : initial_values(*model, task->blocks, 1))
    visit.fetched.push_back({task->blocks.find(name)->id, {}, values});
  const auto last = last_role(task->method);
  const auto worker =
    make_local_trainer(task, std::move(model), *kernels::make_backend({}))
      .value();
  EXPECT_FALSE(worker->train(visit)->parts.empty());
  visit.role = last;
  const auto done = worker->train(visit);
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_TRUE(done->parts.empty());
  EXPECT_EQ(done->next.visits, 1u);
}

TEST(last_visit, has_a_procedure_that_there_is) {
  const auto made = make_local_trainer(task_with("sdg"), model_of({}), nullptr);
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().context.starts_with(
    "recipe 'sgd on a shared model', last visits: there is no local procedure "
    "'sdg'; there are "))
    << made.error().context;
}

} // namespace troupe::test
