#include "node/task/workload.hpp"

#include <algorithm>

#include "core/random.hpp"
#include "models/adapters/adapted_task.hpp"
#include "models/embedder.hpp"
#include "models/families.hpp"
#include "models/frozen_base.hpp"
#include "models/gate.hpp"
#include "models/guarded_trainer.hpp"
#include "models/inner_adapters.hpp"
#include "models/inner_setup.hpp"
#include "models/optimisers.hpp"
#include "models/own_validation.hpp"
#include "models/shapes.hpp"
#include "models/watched.hpp"
#include "node/config/policies_of.hpp"
#include "node/task/common_values.hpp"
#include "node/task/experts.hpp"
#include "node/task/first_values.hpp"
#include "node/task/inside.hpp"
#include "node/task/life.hpp"
#include "node/task/recipe_of.hpp"
#include "policies/mixing.hpp"
#include "policies/weighting.hpp"

namespace troupe::node {

namespace {

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
    if (travels(block.where))
      most = std::max(
        most, policies::largest_weight({.rule = block.weight,
                                        .kind = x.clients.example_weight,
                                        .examples = examples}));
  return most;
}

/// Rows that nobody trains on: of all together, or of clients.
bool has_rows_for(models::watched what, const models::partition& clients) {
  return models::of_clients(what)
           ? std::ranges::any_of(clients.own_validation,
                                 [](const auto& rows) { return !rows.empty(); })
           : !clients.validation.empty();
}

result<void> check(const experiment& x, const recipe& method,
                   const materials& found) {
  const auto& clients = found.clients;
  const auto stops = watched_of(x.stop);
  if (stops && !has_rows_for(*stops, clients) && !x.data.is_elsewhere())
    return fail(errc::invalid_config, x.places.of("stop.metric")
                                        + "'stop' watches validation data, and "
                                          "this data has none to set aside");
  if (stops && !method.offers)
    return fail(errc::invalid_config,
                x.places.of("stop.metric")
                  + "'stop' looks at versions, and method '" + method.name
                  + "' makes none");
  if (const auto most = largest(clients);
      x.merge.samples_max > 0 && most > x.merge.samples_max)
    return fail(errc::invalid_config,
                x.places.of("merge.samples_max")
                  + "'samples_max' must be at least " + std::to_string(most)
                  + ", the examples of the largest client, found "
                  + std::to_string(x.merge.samples_max));
  // Who brings data from elsewhere says so there.
  return x.data.is_elsewhere()
           ? result<void>{}
           : models::check_own_validation(method, clients, found.users)
               .map_error([&](error e) {
                 e.context = x.places.of("method") + e.context;
                 return e;
               });
}

std::shared_ptr<models::local_task>
task_of(const experiment& x, const workload& w, materials m,
        std::optional<models::adapter_plan> adapters) {
  auto task = std::make_shared<models::local_task>();
  if (m.make_common) {
    task->make_common = std::move(m.make_common);
    task->embedded = std::make_shared<models::embedding_table>();
  }
  task->truths = std::move(m.truths);
  task->adapters = std::move(adapters);
  task->groups = m.groups;
  task->population_error = m.groups > 0 && !m.has_labels;
  task->method = w.method;
  task->blocks = *w.blocks;
  task->how = x.training;
  task->first_seed = derive_seed(x.seed, "initial");
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

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t memory_at_least = 2048 * mib;

std::uint64_t offer_bytes(const models::layout& blocks) {
  std::uint64_t bytes = 0;
  for (const auto& block : blocks.blocks)
    bytes += block.size * sizeof(float);
  return bytes;
}

/// Some rule looks at all offers of a version beside each other.
bool compares_offers(const models::layout& blocks) {
  return std::ranges::any_of(blocks.blocks, [](const auto& x) {
    return policies::compares_offers(x.merge.kind);
  });
}

/// Offers that memory has no room for wait on disk, and are added one by one.
bool may_spool(const experiment& x) {
  return x.clock == clock_kind::wall && x.ledger == ledger_kind::disk;
}

/// What must find room, or nothing would ever be merged.
std::uint64_t memory_needed(const experiment& x, const models::layout& blocks) {
  return (may_spool(x) && !compares_offers(blocks) ? 1 : offers_needed(x))
         * offer_bytes(blocks);
}

result<void> check_memory(const experiment& x, const models::layout& blocks) {
  const auto needed = memory_needed(x, blocks);
  if (needed <= memory_of(x, blocks))
    return {};
  const auto count = needed / std::max<std::uint64_t>(offer_bytes(blocks), 1);
  const char* why = count == 1 ? ""
                    : compares_offers(blocks)
                      ? "; its rule compares them, so none can wait on disk"
                      : "; with clock = \"wall\" and ledger = \"disk\", as "
                        "under troupe serve, they would wait on disk";
  return fail(errc::invalid_config,
              x.places.of("pace.memory") + "'pace.memory' must be at least "
                + std::to_string((needed + mib - 1) / mib) + " MiB, what "
                + (count == 1 ? "one offer may take"
                              : "the " + std::to_string(count)
                                  + " offers of one version may take")
                + why + ", found " + std::to_string(x.pace.memory));
}

/// What blocks the recipe has of the model and of what stands beside it.
std::map<std::string, models::tensor_list>
shapes_of(const models::objective& model, const beside_model& beside) {
  auto shapes = models::shapes_of(model, beside.adapters, beside.gate,
                                  beside.inside ? &*beside.inside : nullptr);
  if (beside.common) {
    shapes[std::string{models::common_family}] =
      beside.common->parameter_list();
    shapes[std::string{models::common_buffers_family}] =
      beside.common->buffer_list();
  }
  return shapes;
}

result<models::layout> layout_of(const experiment& x, const recipe& method,
                                 models::objective& model,
                                 const beside_model& beside,
                                 std::uint64_t examples) {
  return models::make_layout(method, shapes_of(model, beside),
                             {.weight_max = weight_max(x, method, examples),
                              .delta_max = x.merge.delta_max,
                              .offers = offers_max(x),
                              .sent = x.merge.wire})
    .and_then([&](models::layout blocks) -> result<models::layout> {
      if (auto ok = check_memory(x, blocks); !ok)
        return tl::make_unexpected(ok.error());
      if (const auto* base = model.inside())
        models::note_base(blocks, base->base_list(), base->base_content());
      return blocks;
    });
}

} // namespace

std::uint64_t memory_of(const experiment& x, const models::layout& blocks) {
  return x.pace.memory > 0
           ? x.pace.memory * mib
           : std::max(memory_at_least, memory_needed(x, blocks));
}

result<workload> prepare(const experiment& x, const model_maker& make_model) {
  return materials_of(x, make_model).and_then([&](materials found) {
    return prepare(x, std::move(found));
  });
}

namespace {

/// A refusal of what a key says, at its place.
result<void> at_key(std::string_view key, const experiment& x,
                    const result<void>& found) {
  if (found)
    return {};
  return fail(found.error().code, x.places.of(key) + found.error().context);
}

/// What is in the way of steps that another optimiser makes.
std::string_view key_of_steps(const models::training_options& how) {
  if (how.optimiser != models::optimiser_kind::sgd)
    return "training.optimiser";
  return how.momentum != 0 ? "training.momentum" : "training.weight_decay";
}

/// Whether the method can do with it. @param adapters null: it has none
result<void> check_model(const recipe& method, const experiment& x,
                         const models::objective& model, const auto& adapters) {
  if (adapters)
    if (auto ok = models::check_ranks(method, *adapters, {.places = x.places});
        !ok)
      return ok;
  return at_key(key_of_steps(x.training), x,
                models::check_optimiser(method, x.training))
    .and_then(
      [&] { return at_key("method", x, models::check_body(method, model)); });
}

/// Adapters, gate and common model, as far as the recipe has them.
result<beside_model> beside_of(const experiment& x, const recipe& method,
                               const materials& found,
                               const models::objective& model) {
  beside_model out;
  auto inside = models::inner_plans_for(method, model, x.training.method,
                                        x.model.adapt, x.places);
  if (!inside)
    return tl::make_unexpected(inside.error());
  out.inside = std::move(*inside);
  if (out.inside) {
    out.adapters = out.inside->adapter;
  } else {
    auto adapters =
      models::adapters_for(method, model.parameter_list(), x.training.method,
                           x.model.adapt, {}, x.places);
    if (!adapters)
      return tl::make_unexpected(adapters.error());
    out.adapters = std::move(*adapters);
  }
  if (found.make_common) {
    auto common = found.make_common();
    if (!common)
      return tl::make_unexpected(common.error());
    out.common = std::move(*common);
    auto values = common_values(x, *out.common);
    if (!values)
      return tl::make_unexpected(values.error());
    out.common_values = std::move(*values);
  }
  auto gate = models::gate_for(method, x.training.method, out.common.get());
  if (!gate)
    return tl::make_unexpected(gate.error());
  out.gate = *gate;
  return out;
}

/// Layout, first values and task of a method. @pre the others of `w` are there
result<void> build(const experiment& x, materials found, workload& w) {
  const auto model = found.make_objective();
  if (!model)
    return tl::make_unexpected(model.error());
  auto beside = beside_of(x, w.method, found, **model);
  if (!beside)
    return tl::make_unexpected(beside.error());
  if (auto ok = check_model(w.method, x, **model, beside->adapters); !ok)
    return ok;
  auto experts =
    experts_for(x, w.method, beside->inside, found.clients, found.users);
  if (!experts)
    return tl::make_unexpected(experts.error());
  if (const auto more = about_routers(x, w.method, *experts); !more.empty())
    w.remark += (w.remark.empty() ? "" : "; ") + more;
  auto blocks = layout_of(x, w.method, **model, *beside, w.shape.examples_max);
  if (!blocks)
    return tl::make_unexpected(blocks.error());
  if (found.starts) {
    auto initial = first_values(x, w.method, **model, *blocks, *beside);
    if (!initial)
      return tl::make_unexpected(initial.error());
    if (auto ok = models::check_starts(w.method, *blocks, *initial); !ok)
      return ok;
    w.initial = std::move(*initial);
  }
  w.blocks = std::make_shared<const models::layout>(std::move(*blocks));
  const auto make_inner = found.make_inner;
  auto task = task_of(x, w, std::move(found), beside->adapters);
  task->inside = beside->inside;
  task->experts = std::move(*experts);
  if (auto ok = complete(x, **model, *beside, *task); !ok)
    return ok;
  if (make_inner)
    if (auto ok = stand_inside(make_inner, *task); !ok)
      return ok;
  // What is frozen is a part of it.
  w.blocks = std::make_shared<const models::layout>(task->blocks);
  w.task = std::move(task);
  return {};
}

} // namespace

result<workload> prepare(const experiment& x, materials found) {
  const auto method = recipe_of(x);
  if (!method)
    return tl::make_unexpected(method.error());
  if (auto ok = check(x, *method, found); !ok)
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
             .has_labels = found.has_labels,
             .devices = std::move(*devices),
             .life = std::move(*life),
             .data_digest = std::move(found.data_digest),
             .shape = std::move(found.shape),
             .counts_tokens = found.counts_tokens,
             .language = found.language,
             .window = x.data.context,
             .left_out = found.left_out,
             .user_names = found.user_names,
             .label_names = found.label_names,
             .remark = std::move(found.remark)};
  w.shape.examples_max =
    x.merge.samples_max ? x.merge.samples_max : largest(found.clients);
  w.make_objective = found.make_objective;
  const auto make_inner = found.make_inner;
  if (auto ok = build(x, std::move(found), w); !ok)
    return tl::make_unexpected(ok.error());
  w.trainers_of = [make_whole = w.make_objective,
                   make_inner](std::shared_ptr<const models::local_task> x) {
    auto make = make_whole;
    if (make_inner)
      make = [make_inner, base = base_of(*x)] { return make_inner(base); };
    return models::guarded(
      models::local_trainers(std::move(x), std::move(make)));
  };
  w.make_trainer = w.trainers_of(w.task);
  return w;
}

} // namespace troupe::node
