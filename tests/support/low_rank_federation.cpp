#include "tests/support/low_rank_federation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "models/adapters/adapted_task.hpp"
#include "models/adapters/factor_halves.hpp"
#include "models/adapters/spectrum.hpp"
#include "models/inner_setup.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/inner_regression.hpp"

namespace troupe::test {

namespace {

std::shared_ptr<models::local_task> task_of(const models::low_rank_problem& of,
                                            const way& how,
                                            models::objective& model) {
  auto task = std::make_shared<models::local_task>();
  task->method =
    policies::with_options(*policies::find_recipe(how.method), how.said)
      .value();
  task->how = {.local_steps = how.local_steps,
               .batch_size = how.batch,
               .learning_rate = how.rate};
  task->how.method = with_defaults(task->method, how.said);
  const auto& said = task->how.method;
  task->adapters =
    models::adapters_for(task->method, model.parameter_list(), said).value();
  task->own_adapters =
    models::own_adapters_for(task->method, model, said).value();
  if (how.inside) {
    models::inner_plans plans;
    plans.adapter = task->adapters;
    plans.own_adapter = task->own_adapters;
    task->inside = std::move(plans);
  } else {
    task->frozen = models::frozen_values(model, task->method, 1);
  }
  task->frozen.merge(models::frozen_factors(task->method, task->adapters, 1));
  task->blocks =
    models::make_layout(task->method, models::shapes_of(model, task->adapters),
                        {.weight_max = 1024, .delta_max = 64})
      .value();
  task->clients = of.rows->clients;
  task->test_size = of.rows->rows(models::split::test);
  task->truths = of.truths;
  return task;
}

std::unique_ptr<models::objective> model_of(const models::low_rank_problem& of,
                                            const way& how) {
  if (how.inside)
    return std::make_unique<inner_regression>(of.rows);
  return std::make_unique<models::regression>(of.rows,
                                              std::vector<std::size_t>{});
}

/// a = the lower triangle of Cholesky's factor, in place.
void factorise(models::dense& a) {
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a.at(i, j);
      for (std::size_t k = 0; k < j; ++k)
        sum -= a.at(i, k) * a.at(j, k);
      a.at(i, j) = i == j ? std::sqrt(sum) : sum / a.at(j, j);
    }
}

} // namespace

low_rank_federation::low_rank_federation(const models::low_rank_problem& of,
                                         const way& how, std::uint64_t seed)
  : seed_(seed),
    clients_(of.rows->clients.train.size()) {
  models::regression model{of.rows, {}};
  const auto task = task_of(of, how, model);
  trainer_ = models::make_local_trainer(task, model_of(of, how),
                                        kernels::make_backend({}).value())
               .value();
  loop_ = std::make_unique<reference_loop>(
    *trainer_,
    reference_options{
      .method = task->method,
      .blocks = task->blocks,
      .initial = models::initial_values(
        model, task->blocks, derive_seed(seed, "initial"), task->adapters),
      .admitted = clients_});
}

void low_rank_federation::round(bool reversed) {
  std::vector<invited> cohort;
  for (std::uint64_t k = 1; k <= clients_; ++k)
    cohort.push_back(
      {.client = {k},
       .seed = derive_seed(derive_seed(seed_, "visit", k), "round", round_)});
  if (reversed)
    std::ranges::reverse(cohort);
  const auto done = loop_->round(cohort);
  EXPECT_TRUE(done) << done.error().context;
  ++round_;
}

findings low_rank_federation::evaluate() {
  auto found = loop_->evaluate(true);
  EXPECT_TRUE(found) << found.error().context;
  return found ? found->method_results : findings{};
}

std::vector<double> spectrum_of(const std::vector<float>& truth) {
  return models::singular_values(
    models::dense{10, 10, {truth.begin(), truth.end()}});
}

double squares_from(const std::vector<double>& xs, std::size_t first) {
  double sum = 0;
  for (std::size_t j = first; j < xs.size(); ++j)
    sum += xs[j] * xs[j];
  return sum;
}

// With X'X = L L' the best fit is X W, W = (X'X)^-1 X'Y, and L^-1 X'Y has its
// singular values: what a rank leaves out of them is added to the residual.
double least_loss(const models::regression_problem& of, std::size_t client,
                  std::size_t rank) {
  const auto& rows = of.clients.train.at(client - 1);
  const auto value = [](const std::vector<float>& xs, std::size_t i) {
    return static_cast<double>(xs[i]);
  };
  models::dense gram{of.inputs, of.inputs,
                     std::vector<double>(of.inputs * of.inputs)};
  models::dense cross{of.inputs, of.targets,
                      std::vector<double>(of.inputs * of.targets)};
  double squares = 0;
  for (const auto r : rows) {
    for (std::size_t i = 0; i < of.inputs; ++i) {
      const auto x = value(of.train.inputs, r * of.inputs + i);
      for (std::size_t j = 0; j < of.inputs; ++j)
        gram.at(i, j) += x * value(of.train.inputs, r * of.inputs + j);
      for (std::size_t j = 0; j < of.targets; ++j)
        cross.at(i, j) += x * value(of.train.targets, r * of.targets + j);
    }
    for (std::size_t j = 0; j < of.targets; ++j)
      squares += std::pow(value(of.train.targets, r * of.targets + j), 2);
  }
  factorise(gram);
  for (std::size_t i = 0; i < of.inputs; ++i)
    for (std::size_t j = 0; j < of.targets; ++j) {
      for (std::size_t k = 0; k < i; ++k)
        cross.at(i, j) -= gram.at(i, k) * cross.at(k, j);
      cross.at(i, j) /= gram.at(i, i);
    }
  const auto explained = models::singular_values(cross);
  const auto left = squares - squares_from(explained, 0);
  return (left + squares_from(explained, rank))
         / static_cast<double>(rows.size());
}

} // namespace troupe::test
