#include "node/task/workload.hpp"

#include <algorithm>
#include <set>

#include "node/config/config.hpp"
#include "node/task/life.hpp"
#include "node/task/data.hpp"
#include "core/assert.hpp"
#include "core/random.hpp"
#include "models/adapters/adapted_task.hpp"
#include "models/methods/families.hpp"
#include "models/safetensors.hpp"
#include "models/tasks/quadratic.hpp"
#include "models/tasks/regression.hpp"
#include "policies/catalogue.hpp"
#include "policies/mixing.hpp"
#include "policies/weighting.hpp"

namespace troupe::node {

namespace {

bool travels(const block_spec& x) {
  return x.where == scope::shared || x.where == scope::expert;
}

policies::buffer_policy policy_of(model_options::buffer_rule x) {
  switch (x) {
    case model_options::buffer_rule::local:
      return policies::buffer_policy::local;
    case model_options::buffer_rule::freeze:
      return policies::buffer_policy::freeze;
    case model_options::buffer_rule::average:
      break;
  }
  return policies::buffer_policy::average;
}

/// The catalogue's recipe, with what the configuration says about buffers and
/// merging.
result<recipe> recipe_of(const experiment& x) {
  const auto* found = all_methods().find(x.method);
  TROUPE_ASSERT(found); // The configuration was checked.
  const auto& said = x.merge;
  return policies::with_merging(
           policies::with_buffers(*found, policy_of(x.model.buffers)),
           {.rule = said.rule, .is_clipped = said.clip_norm > 0})
    .and_then([&](recipe method) {
      return policies::with_options(std::move(method), x.training.method);
    });
}

/// The parts of a task on its way to become a workload.
struct materials {
  models::partition clients;
  std::size_t test_size = 0;
  models::objective_factory make_objective;
  bool has_labels = true;
  std::size_t groups =
    0; ///< Client k is in group (k - 1) mod this; 0: unknown.
  std::vector<std::vector<float>> truths = {}; ///< Of clients, where known.
};

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
  return m;
}

materials
regression_of(const experiment& x,
              std::shared_ptr<const models::regression_problem> problem) {
  const std::vector<std::size_t> hidden(x.model.hidden.begin(),
                                        x.model.hidden.end());
  materials m{.clients = problem->clients,
              .test_size = problem->rows(models::split::test),
              .make_objective = [problem, hidden]()
                -> result<std::unique_ptr<models::objective>> {
                return std::make_unique<models::regression>(problem, hidden);
              },
              .has_labels = false};
  m.clients.held_out = x.clients.held_out;
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

result<materials> examples_of(const experiment& x,
                              const model_maker& make_model) {
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
  return materials{
    .clients = std::move(*clients),
    .test_size = data->test.size,
    .make_objective = [what = x.model, data,
                       make_model] { return make_model(what, data); },
    .groups = x.in_clusters() ? x.data.clusters : 0};
}

std::uint64_t largest(const models::partition& clients) {
  std::size_t most = 0;
  for (const auto& rows : clients.train)
    most = std::max(most, rows.size());
  return most;
}

/// The largest weight that any offer to any block can have: the grid follows
/// from it.
double weight_max(const experiment& x, const recipe& method,
                  std::uint64_t examples) {
  double most = 1;
  for (const auto& block : method.blocks)
    if (travels(block))
      most = std::max(
        most, policies::largest_weight({.rule = block.weight,
                                        .kind = x.clients.example_weight,
                                        .examples = examples}));
  return most;
}

result<void> check(const experiment& x, const recipe& method,
                   const models::partition& clients) {
  const bool stops = x.stop.metric != stop_options::metric_kind::none;
  if (stops && clients.validation.empty())
    return fail(
      errc::invalid_config,
      "'stop' watches validation data, and this data has none to set aside");
  if (stops && !method.offers)
    return fail(errc::invalid_config,
                "'stop' watches the global model, and method '" + method.name
                  + "' has none");
  if (x.durability == durability_kind::offer)
    return fail(errc::invalid_config,
                "durability = \"offer\" is not built yet");
  if (const auto most = largest(clients);
      x.merge.samples_max > 0 && most > x.merge.samples_max)
    return fail(errc::invalid_config,
                "'samples_max' must be at least " + std::to_string(most)
                  + ", the examples of the largest client, found "
                  + std::to_string(x.merge.samples_max));
  return {};
}

bool holds(const models::tensor_file& file, const models::tensor_spec& x) {
  return std::ranges::find(file.tensors, x.name, &models::tensor_spec::name)
         != file.tensors.end();
}

/// A file's values for a block; null if it says nothing about the family.
result<shared_values> from_file(const models::tensor_file& file,
                                const models::block_layout& block,
                                const std::string& path) {
  const auto is_there = [&](const auto& x) { return holds(file, x); };
  auto own = block.tensors;
  for (auto& x : own)
    x.name = block.name + "/" + x.name;
  const bool is_model = block.family == models::model_family;
  const bool as_plain = block.family == models::buffers_family
                        && std::ranges::any_of(block.tensors, is_there);
  const bool knows_family =
    std::ranges::any_of(file.tensors, [&](const models::tensor_spec& x) {
      return x.name.starts_with(block.family + "/")
             || x.name.starts_with(block.family + ".");
    });
  if (!is_model && !as_plain && !knows_family)
    return shared_values{};
  // One model of several: its own, if the file has it; else they all begin as
  // the one that is there.
  const bool plain =
    as_plain || (is_model && !std::ranges::all_of(own, is_there));
  auto values = models::values_of(file, plain ? block.tensors : own, path);
  if (!values)
    return tl::make_unexpected(values.error());
  return share(std::move(*values));
}

/// Refuses a file that has more instances of a family than the run has.
result<void> check_instances(const models::tensor_file& file,
                             const models::layout& blocks,
                             const std::string& path) {
  for (const auto& x : file.tensors) {
    const auto name = x.name.substr(0, x.name.find('/'));
    const auto family = name.substr(0, name.find('.'));
    if (name == x.name || blocks.find(name) || blocks.family(family).empty())
      continue;
    return fail(errc::invalid_config,
                path + ": has '" + name + "', and of '" + family
                  + "' this run has "
                  + std::to_string(blocks.family(family).size())
                  + "; a file of as many would do");
  }
  return {};
}

result<std::map<block_id, shared_values>>
first_values(const experiment& x, models::objective& model,
             const models::layout& blocks,
             const std::optional<models::adapter_plan>& adapters) {
  const auto fresh = models::initial_values(
    model, blocks, derive_seed(x.seed, "initial"), adapters);
  std::map<block_id, shared_values> values;
  for (const auto& block : blocks.blocks)
    values[block.id] = fresh.at(block.name);
  if (x.init.empty())
    return values;
  const auto file = models::read_safetensors(x.init);
  if (!file)
    return tl::make_unexpected(file.error());
  if (auto ok = check_instances(*file, blocks, x.init); !ok)
    return tl::make_unexpected(ok.error());
  for (const auto& block : blocks.blocks) {
    auto found = from_file(*file, block, x.init);
    if (!found)
      return tl::make_unexpected(found.error());
    if (*found)
      values[block.id] = std::move(*found);
  }
  return values;
}

/// The adaptors that clients keep, and the model that nobody trains: a file's,
/// if one is said.
result<void> complete(const experiment& x, models::objective& model,
                      models::local_task& task) {
  auto own = models::own_adapters_for(task.method, model, x.training.method,
                                      x.model.adapt);
  if (!own)
    return tl::make_unexpected(own.error());
  task.own_adapters = std::move(*own);
  task.frozen =
    models::frozen_values(model, task.method, derive_seed(x.seed, "initial"));
  if (task.frozen.empty() || x.init.empty())
    return {};
  const auto file = models::read_safetensors(x.init);
  if (!file)
    return tl::make_unexpected(file.error());
  for (auto& [name, values] : task.frozen) {
    models::block_layout block;
    block.name = block.family = name;
    block.tensors = model.parameter_list();
    if (std::ranges::none_of(block.tensors,
                             [&](const auto& y) { return holds(*file, y); }))
      continue; // What nobody trains is in no run's folder.
    auto found = from_file(*file, block, x.init);
    if (!found)
      return tl::make_unexpected(found.error());
    values = std::move(*found);
  }
  return {};
}

std::shared_ptr<models::local_task>
task_of(const experiment& x, const workload& w, materials m,
        std::optional<models::adapter_plan> adapters) {
  auto task = std::make_shared<models::local_task>();
  task->truths = std::move(m.truths);
  task->adapters = std::move(adapters);
  task->groups = m.groups;
  task->population_error = m.groups > 0 && !m.has_labels;
  task->method = w.method;
  task->blocks = *w.blocks;
  task->how = x.training;
  task->clients = std::move(m.clients);
  task->test_size = m.test_size;
  // Honest clients keep to the bound; the gateway refuses the others.
  task->how.norm_max = x.merge.clip_norm;
  for (const auto& rows : task->clients.train)
    task->weights.push_back(
      policies::weight_of(x.clients.example_weight, rows.size()));
  task->attackers.scale = x.attack.scale;
  for (std::uint64_t k = 1; k <= x.attack.clients; ++k)
    task->attackers.clients.insert({k});
  return task;
}

result<materials> materials_of(const experiment& x,
                               const model_maker& make_model) {
  switch (x.data.kind) {
    case data_options::format::quadratic:
      return quadratic_of(x);
    case data_options::format::clusters:
      return clusters_of(x);
    case data_options::format::low_rank:
      return low_rank_of(x);
    default:
      return examples_of(x, make_model);
  }
}

} // namespace

result<workload> prepare(const experiment& x, const model_maker& make_model) {
  auto found = materials_of(x, make_model);
  if (!found)
    return tl::make_unexpected(found.error());
  const auto method = recipe_of(x);
  if (!method)
    return tl::make_unexpected(method.error());
  if (auto ok = check(x, *method, found->clients); !ok)
    return tl::make_unexpected(ok.error());
  auto life = life_of(x);
  if (!life)
    return tl::make_unexpected(life.error());
  auto devices = fleet_of(x);
  if (!devices)
    return tl::make_unexpected(devices.error());
  workload w{.method = *method,
             .blocks = nullptr,
             .initial = {},
             .task = nullptr,
             .make_trainer = {},
             .has_labels = found->has_labels,
             .devices = std::move(*devices),
             .life = std::move(*life)};
  auto model = found->make_objective();
  if (!model)
    return tl::make_unexpected(model.error());
  auto adapters = models::adapters_for(w.method, (*model)->parameter_list(),
                                       x.training.method, x.model.adapt);
  if (!adapters)
    return tl::make_unexpected(adapters.error());
  if (*adapters)
    if (auto ok = models::check_ranks(w.method, **adapters); !ok)
      return tl::make_unexpected(ok.error());
  if (auto ok = models::check_body(w.method, **model); !ok)
    return tl::make_unexpected(ok.error());
  const auto examples =
    x.merge.samples_max ? x.merge.samples_max : largest(found->clients);
  auto blocks =
    models::make_layout(w.method, models::shapes_of(**model, *adapters),
                        {.weight_max = weight_max(x, w.method, examples),
                         .delta_max = x.merge.delta_max});
  if (!blocks)
    return tl::make_unexpected(blocks.error());
  auto initial = first_values(x, **model, *blocks, *adapters);
  if (!initial)
    return tl::make_unexpected(initial.error());
  if (auto ok = models::check_starts(w.method, *blocks, *initial); !ok)
    return tl::make_unexpected(ok.error());
  w.blocks = std::make_shared<const models::layout>(std::move(*blocks));
  w.initial = std::move(*initial);
  const auto make_objective = found->make_objective;
  auto task = task_of(x, w, std::move(*found), std::move(*adapters));
  if (auto ok = complete(x, **model, *task); !ok)
    return tl::make_unexpected(ok.error());
  w.task = std::move(task);
  w.make_trainer = models::local_trainers(w.task, make_objective);
  return w;
}

} // namespace troupe::node
