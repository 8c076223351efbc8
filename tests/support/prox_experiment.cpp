#include "tests/support/prox_experiment.hpp"

#include <algorithm>
#include <numeric>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "models/data/synthetic.hpp"
#include "models/local_trainer.hpp"
#include "tests/support/reference_loop.hpp"
#include "tests/support/small_recipes.hpp"
#include "tests/support/softmax_objective.hpp"

namespace troupe::test {

namespace {

/// The clients of round `i`: the same for each method.
std::vector<invited> cohort_of(std::uint64_t i, std::uint64_t clients,
                               std::size_t size) {
  std::vector<std::uint64_t> all(clients);
  std::iota(all.begin(), all.end(), 1u);
  random_stream random{derive_seed(17, "cohort", i)};
  random.shuffle(all);
  std::vector<invited> result;
  for (std::size_t k = 0; k < size; ++k)
    result.push_back(
      {.client = {all[k]},
       .seed = derive_seed(derive_seed(17, "round", i), "visit", all[k])});
  return result;
}

} // namespace

shared_data synthetic_data(double spread, std::uint64_t seed) {
  auto data =
    models::make_synthetic({.alpha = spread, .beta = spread, .seed = seed});
  TROUPE_ASSERT(data.has_value());
  return std::make_shared<const models::dataset>(std::move(*data));
}

curve train(const shared_data& data, const prox_run& how) {
  const auto method = shared_model(how.procedure);
  softmax_objective model{data};
  const auto& rows = data->natural->train;
  std::size_t most = 1;
  for (const auto& x : rows)
    most = std::max(most, x.size());
  const auto blocks =
    *models::make_layout(method, models::shapes_of(model),
                         {.weight_max = static_cast<double>(most)});
  auto clients = *data->natural;
  clients.validation.resize(
    data->train.size); // Scored, beside being trained on.
  std::iota(clients.validation.begin(), clients.validation.end(), 0u);
  const auto task = std::make_shared<models::local_task>();
  task->method = method;
  task->blocks = blocks;
  task->how.local_epochs = 20;
  task->how.batch_size = 10;
  task->how.stragglers = how.stragglers;
  task->how.drop_stragglers = how.drop;
  task->how.method = {{"proximal", how.proximal}};
  task->clients = std::move(clients);
  task->test_size = data->test.size;
  auto trainer =
    *models::make_local_trainer(task, std::make_unique<softmax_objective>(data),
                                *kernels::make_backend({}));
  reference_loop loop{*trainer,
                      {.method = method,
                       .blocks = blocks,
                       .initial = models::initial_values(model, blocks, 1)}};
  curve result;
  for (int i = 0; i < how.rounds; ++i) {
    const auto done = loop.round(
      cohort_of(static_cast<std::uint64_t>(i), rows.size(), how.cohort));
    TROUPE_ASSERT(done.has_value());
    const auto scored = loop.evaluate();
    TROUPE_ASSERT(scored.has_value());
    result.loss.push_back(scored->validation.mean_loss());
    result.accuracy.push_back(scored->global.accuracy());
  }
  return result;
}

double largest_fall(const std::vector<double>& xs) {
  double best = 0;
  double fall = 0;
  for (const auto x : xs) {
    best = std::max(best, x);
    fall = std::max(fall, best - x);
  }
  return fall;
}

} // namespace troupe::test
