#include "tests/support/adapter_site.hpp"

#include <numeric>
#include <utility>

#include "core/random.hpp"
#include "models/adapters/factor_halves.hpp"
#include "models/inner_setup.hpp"

namespace troupe::test {

std::shared_ptr<const models::regression_problem>
linear_problem(std::size_t inputs, std::size_t targets, std::size_t rows,
               std::uint64_t seed) {
  models::regression_problem x{.inputs = inputs,
                               .targets = targets,
                               .train = {},
                               .test = {},
                               .clients = {},
                               .has_bias = false,
                               .sums_targets = true,
                               .begins_at_zero = true};
  random_stream random{seed};
  const auto draw = [&](std::size_t count, std::vector<float>& to) {
    for (std::size_t j = 0; j < count; ++j)
      to.push_back(static_cast<float>(random.normal()));
  };
  draw(rows * inputs, x.train.inputs);
  draw(rows * targets, x.train.targets);
  x.test = x.train;
  std::vector<std::uint32_t> all(rows);
  std::iota(all.begin(), all.end(), 0u);
  x.clients.train = x.clients.test = {all};
  return std::make_shared<const models::regression_problem>(std::move(x));
}

adapter_site::adapter_site(site_options x)
  : method(
    policies::with_options(*policies::find_recipe(x.method), x.said).value()) {
  x.said = with_defaults(method, std::move(x.said));
  if (!x.model) {
    x.model = std::make_unique<models::regression>(x.problem,
                                                   std::vector<std::size_t>{});
    x.clients = x.problem->clients;
  }
  auto task = std::make_shared<models::local_task>();
  task->method = method;
  task->how = x.how;
  task->how.method = x.said;
  task->clients = x.clients;
  task->experts = x.experts;
  task->test_size = x.problem ? x.problem->rows(models::split::test) : 0;
  task->adapters =
    x.common
      ? x.common
      : models::adapters_for(method, x.model->parameter_list(), x.said).value();
  task->own_adapters =
    x.own ? x.own : models::own_adapters_for(method, *x.model, x.said).value();
  task->frozen = models::frozen_values(*x.model, method, 1);
  if (x.model->inside() != nullptr) {
    models::inner_plans plans;
    plans.adapter = task->adapters;
    plans.own_adapter = task->own_adapters;
    plans.attention = x.attention;
    task->inside = std::move(plans);
    task->frozen.clear(); // The base is no block of values.
  }
  task->frozen.merge(models::frozen_factors(method, task->adapters, 1));
  task->blocks = models::make_layout(
                   method,
                   models::shapes_of(*x.model, task->adapters, {},
                                     task->inside ? &*task->inside : nullptr),
                   {.weight_max = 1024})
                   .value();
  blocks = task->blocks;
  trainer = models::make_local_trainer(task, std::move(x.model),
                                       kernels::make_backend({}).value())
              .value();
}

models::visit_input
adapter_site::visit(const std::vector<float>& common,
                    std::shared_ptr<const models::client_state> state) const {
  return {.visit = {{1}, {1}},
          .seed = 3,
          .fetched = {{blocks.blocks.front().id, {0}, share(common)}},
          .chosen = {},
          .state = std::move(state)};
}

std::shared_ptr<const models::client_state>
keeping(const std::vector<float>& own) {
  auto state = std::make_shared<models::client_state>();
  state->blocks["own_adapter"] = personal_values{own};
  return state;
}

std::vector<double> two_level_loss::matrix(const double_factors& x,
                                           const double_factors& y) const {
  std::vector<double> w(of_.targets * of_.inputs);
  for (const auto* z : {&x, &y}) {
    const auto* v = z->values.data() + z->rank * of_.targets;
    for (std::size_t k = 0; k < z->rank; ++k)
      for (std::size_t i = 0; i < of_.targets; ++i)
        for (std::size_t j = 0; j < of_.inputs; ++j)
          w[i * of_.inputs + j] +=
            z->values[k * of_.targets + i] * v[k * of_.inputs + j];
  }
  return w;
}

double two_level_loss::value(const double_factors& x, const double_factors& y,
                             const rows& of) const {
  const auto w = matrix(x, y);
  double sum = 0;
  for (const auto r : of)
    for (std::size_t i = 0; i < of_.targets; ++i) {
      double error =
        -static_cast<double>(of_.train.targets[r * of_.targets + i]);
      for (std::size_t j = 0; j < of_.inputs; ++j)
        error += w[i * of_.inputs + j]
                 * static_cast<double>(of_.train.inputs[r * of_.inputs + j]);
      sum += error * error;
    }
  return sum / static_cast<double>(of.size());
}

std::vector<double> two_level_loss::gradient(const double_factors& x,
                                             const double_factors& y,
                                             const rows& of) const {
  // By central differences: the loss is a polynomial of degree two in each
  // value, of which these are the exact slopes.
  std::vector<double> result;
  auto moved = x;
  constexpr double step = 0.125;
  for (auto& value : moved.values) {
    const auto at = value;
    value = at + step;
    const auto above = this->value(moved, y, of);
    value = at - step;
    const auto below = this->value(moved, y, of);
    value = at;
    result.push_back((above - below) / (2 * step));
  }
  return result;
}

} // namespace troupe::test
