#include "node/task/materials.hpp"

#include <algorithm>

#include "core/random.hpp"
#include "models/data/data_digest.hpp"
#include "models/data/shift.hpp"
#include "models/families.hpp"
#include "models/tasks/quadratic.hpp"
#include "models/tasks/regression.hpp"
#include "node/config/config.hpp"
#include "node/task/data.hpp"
#include "node/task/language.hpp"
#include "node/task/torch_model.hpp"

namespace troupe::node {

namespace {

materials quadratic_of(const experiment& x) {
  auto problem =
    models::make_quadratic_problem({.seed = derive_seed(x.seed, "data"),
                                    .dimension = x.data.dimension,
                                    .clients = x.clients.clients});
  materials m{.clients = models::partition_of(*problem),
              .test_size = x.clients.clients,
              .make_objective =
                [problem]() -> result<std::unique_ptr<models::objective>> {
                return std::make_unique<models::quadratic>(problem);
              },
              .has_labels = false};
  m.clients.held_out = x.clients.held_out;
  if (has_common(x))
    m.make_common = m.make_objective;
  return m;
}

models::objective_factory
regressions_over(std::shared_ptr<const models::regression_problem> problem,
                 const model_options& what) {
  const std::vector<std::size_t> hidden(what.hidden.begin(), what.hidden.end());
  return [problem, hidden]() -> result<std::unique_ptr<models::objective>> {
    return std::make_unique<models::regression>(problem, hidden);
  };
}

materials
regression_of(const experiment& x,
              std::shared_ptr<const models::regression_problem> problem) {
  materials m{.clients = problem->clients,
              .test_size = problem->rows(models::split::test),
              .make_objective = regressions_over(problem, x.model),
              .has_labels = false};
  m.clients.held_out = x.clients.held_out;
  if (has_common(x))
    m.make_common = regressions_over(problem, common_model_of(x));
  return m;
}

/// FLoRAL's presets: 7 training rows of a client for the linear task, 96 for
/// the other.
materials clusters_of(const experiment& x) {
  using truth = models::cluster_options::truth;
  const bool linear = x.data.task == data_options::cluster_task::linear;
  const std::size_t published = linear ? 7 : 96;
  auto problem = models::make_cluster_problem(
    {.task = linear ? truth::linear : truth::mlp,
     .seed = derive_seed(x.seed, "data"),
     .clients = x.clients.clients,
     .groups = x.data.clusters,
     .train_rows = x.data.cluster_rows ? x.data.cluster_rows : published});
  auto m = regression_of(x, problem);
  m.groups = x.data.clusters;
  return m;
}

materials low_rank_of(const experiment& x) {
  auto problem = models::make_low_rank_problem(
    {.task = x.data.truth, .seed = derive_seed(x.seed, "data")});
  auto m = regression_of(x, problem.rows);
  m.truths = std::move(problem.truths);
  return m;
}

/// Of the examples of a run, where others may bring some to it.
example_shape shape_of(const models::dataset& data) {
  example_shape out;
  for (const auto extent : data.train.inputs.front().shape)
    out.inputs.push_back(static_cast<std::uint32_t>(extent));
  out.classes = static_cast<std::uint32_t>(data.classes);
  return out;
}

std::size_t groups_of(const experiment& x) {
  if (x.in_clusters())
    return x.data.clusters;
  const bool in_groups =
    x.partition.kind == partition_options::rule::combinations
    && x.partition.groups > 1;
  return in_groups ? x.partition.groups : 0;
}

/// What is known of examples that are elsewhere, and none of them.
materials elsewhere_of(const experiment& x, const model_maker& make_model,
                       const inner_model_maker& make_inner) {
  auto data = std::make_shared<models::dataset>();
  data->name = "elsewhere";
  data->classes = x.data.classes;
  const models::column input{
    .name = "x",
    .shape = {x.data.inputs.begin(), x.data.inputs.end()},
    .values = std::vector<float>{}};
  data->train.inputs = data->test.inputs = {input};
  materials m{.clients = {},
              .test_size = 0,
              .make_objective = [what = x.model, data,
                                 make_model] { return make_model(what, data); },
              .make_inner = inner_over(x, data, make_inner),
              .has_labels = true};
  m.shape = {.inputs = x.data.inputs, .classes = x.data.classes};
  m.make_common = common_over(x, data, make_model);
  return m;
}

result<materials> examples_of(const experiment& x,
                              const model_maker& make_model,
                              const inner_model_maker& make_inner) {
  auto loaded = load_data(x);
  if (!loaded)
    return tl::make_unexpected(loaded.error());
  auto clients = deal(x, *loaded);
  if (!clients)
    return tl::make_unexpected(clients.error());
  if (auto ok = models::shift_clusters(*loaded, *clients, x.data.shift,
                                       x.data.clusters);
      !ok)
    return tl::make_unexpected(ok.error());
  auto data = std::make_shared<const models::dataset>(std::move(*loaded));
  // In clusters a client's data is what its number says.
  const auto is_open = !x.in_clusters() && data->train.inputs.size() == 1;
  materials m{.clients = std::move(*clients),
              .test_size = data->test.size,
              .make_objective = [what = x.model, data,
                                 make_model] { return make_model(what, data); },
              .make_inner = inner_over(x, data, make_inner),
              .groups = groups_of(x),
              .truths = {},
              .data_digest = [data] { return models::digest_of(*data); },
              .shape = is_open ? shape_of(*data) : example_shape{}};
  m.make_common = common_over(x, data, make_model);
  return m;
}

} // namespace

bool has_common(const experiment& x) {
  const auto* method = all_methods().find(x.method);
  return method
         && std::ranges::find(method->blocks, models::common_family,
                              &block_spec::name)
              != method->blocks.end();
}

const model_options& common_model_of(const experiment& x) {
  return x.common_model ? *x.common_model : x.model;
}

models::objective_factory
common_over(const experiment& x, std::shared_ptr<const models::dataset> data,
            const model_maker& make_model) {
  if (!has_common(x))
    return {};
  return [what = common_model_of(x), data = std::move(data), make_model] {
    return make_model(what, data);
  };
}

inner_maker inner_over(const experiment& x,
                       std::shared_ptr<const models::dataset> data,
                       const inner_model_maker& make_inner) {
  if (x.model.factors != model_options::factors_rule::inside)
    return {};
  return
    [what = x.model, data = std::move(data), make_inner](shared_values base) {
      return make_inner(what, data, std::move(base));
    };
}

result<materials> materials_of(const experiment& x,
                               const model_maker& make_model) {
  return materials_of(x, make_model, make_torch_inner);
}

result<materials> materials_of(const experiment& x,
                               const model_maker& make_model,
                               const inner_model_maker& make_inner) {
  switch (x.data.kind) {
    case data_options::format::quadratic:
      return quadratic_of(x);
    case data_options::format::clusters:
      return clusters_of(x);
    case data_options::format::low_rank:
      return low_rank_of(x);
    case data_options::format::elsewhere:
      return elsewhere_of(x, make_model, make_inner);
    case data_options::format::language:
      return language_of(x, make_torch_language);
    default:
      return examples_of(x, make_model, make_inner);
  }
}

} // namespace troupe::node
