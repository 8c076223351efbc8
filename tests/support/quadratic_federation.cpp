#include "tests/support/quadratic_federation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "models/adapters/adapted_task.hpp"
#include "models/adapters/factor_halves.hpp"
#include "models/gate.hpp"

namespace troupe::test {

namespace {

using gate_shape = std::optional<kernels::gate_shape>;

/// A test that has a gate of its own looks at what is frozen itself.
bool has_common_model(const quadratic_setting& how) {
  return !how.families.contains("gate")
         && std::ranges::any_of(how.method.blocks, [](const block_spec& x) {
              return x.name == "common" && x.where == scope::frozen;
            });
}

gate_shape gate_of(const quadratic_setting& how, models::objective& common) {
  if (!has_common_model(how))
    return {};
  const auto found = models::gate_for(how.method, how.how.method, &common);
  EXPECT_TRUE(found) << found.error().context;
  return *found;
}

models::layout blocks_of(const quadratic_setting& how,
                         const models::objective& model,
                         const std::optional<models::adapter_plan>& adapters,
                         const gate_shape& gate) {
  auto shapes = models::shapes_of(model, adapters, gate);
  if (has_common_model(how)) {
    shapes["common"] = model.parameter_list();
    shapes["common.buffers"] = model.buffer_list();
  }
  for (const auto& [family, values] : how.families)
    shapes[family] = {{family, {static_cast<std::int64_t>(values.size())}}};
  auto blocks = models::make_layout(
    how.method, shapes,
    {.weight_max = static_cast<double>(how.problem.rows_per_client)});
  EXPECT_TRUE(blocks) << blocks.error().context;
  return *blocks;
}

models::partition rows_of(const quadratic_setting& how,
                          const models::quadratic_problem& problem) {
  auto dealt = models::partition_of(problem);
  dealt.own_validation.resize(how.rows.size());
  for (std::size_t k = 0; k < how.rows.size(); ++k) {
    auto& rows = dealt.train[k];
    const auto kept = rows.begin() + static_cast<std::ptrdiff_t>(how.rows[k]);
    dealt.own_validation[k].assign(kept, rows.end());
    rows.erase(kept, rows.end());
  }
  return dealt;
}

std::unique_ptr<models::trainer>
trainer_of(const quadratic_setting& how,
           const std::shared_ptr<const models::quadratic_problem>& problem,
           const std::shared_ptr<const models::local_task>& task) {
  models::backend_factory arithmetic;
  if (how.make_arithmetic)
    arithmetic = [&]() -> result<std::unique_ptr<kernels::backend>> {
      return how.make_arithmetic();
    };
  const auto make = models::local_trainers(
    task,
    [&]() -> result<std::unique_ptr<models::objective>> {
      if (how.make_model)
        return how.make_model(problem);
      return std::make_unique<models::quadratic>(problem);
    },
    {.most = how.in_step, .bytes = how.bytes_in_step}, arithmetic);
  auto trainer = make();
  EXPECT_TRUE(trainer) << trainer.error().context;
  return std::move(*trainer);
}

} // namespace

quadratic_federation::quadratic_federation(quadratic_setting how)
  : problem_(models::make_quadratic_problem(how.problem)) {
  models::quadratic model{problem_};
  const auto adapters =
    models::adapters_for(how.method, model.parameter_list(), how.how.method)
      .value();
  const auto gate = gate_of(how, model);
  const auto blocks = blocks_of(how, model, adapters, gate);
  auto initial = models::initial_values(model, blocks, 1, adapters, gate);
  for (const auto& x : blocks.blocks)
    if (const auto own = how.families.find(x.family); own != how.families.end())
      initial[x.name] = share(std::vector<float>{own->second});
  for (const auto& [name, values] : how.initial)
    initial[name] = share(std::vector<float>{values});
  auto frozen = models::frozen_values(model, how.method, 1);
  frozen.merge(models::frozen_factors(how.method, adapters, 1));
  models::objective_factory make_common;
  if (has_common_model(how)) {
    frozen["common"] =
      share(model.initial_parameters(derive_seed(1, "common")));
    make_common = [on =
                     problem_]() -> result<std::unique_ptr<models::objective>> {
      return std::make_unique<models::quadratic>(on);
    };
  }
  auto embedded =
    make_common ? std::make_shared<models::embedding_table>() : nullptr;
  for (const auto& [name, values] : how.frozen)
    frozen[name] = share(std::vector<float>{values});
  auto table = models::local_methods();
  table.insert(how.methods.begin(), how.methods.end());
  task_ = std::make_shared<const models::local_task>(models::local_task{
    .method = how.method,
    .blocks = blocks,
    .how = how.how,
    .clients = rows_of(how, *problem_),
    .test_size = how.problem.clients,
    .attackers = how.attackers,
    .adapters = adapters,
    .own_adapters =
      models::own_adapters_for(how.method, model, how.how.method).value(),
    .frozen = std::move(frozen),
    .make_common = std::move(make_common),
    .embedded = std::move(embedded),
    .table = std::move(table)});
  trainer_ = trainer_of(how, problem_, task_);
  loop_ = std::make_unique<reference_loop>(
    *trainer_, reference_options{.method = how.method,
                                 .blocks = blocks,
                                 .initial = initial,
                                 .server = how.server,
                                 .admitted = how.problem.clients});
}

std::unique_ptr<models::embedder> quadratic_federation::common_model() const {
  if (!task_->make_common)
    return nullptr;
  auto model = task_->make_common().value();
  std::ranges::copy(*task_->frozen.at("common"), model->parameters().begin());
  return std::make_unique<models::embedder>(std::move(model), task_->embedded);
}

void quadratic_federation::round() {
  std::vector<std::uint64_t> clients(problem_->how.clients);
  std::iota(clients.begin(), clients.end(), 1u);
  round(clients);
}

void quadratic_federation::round(const std::vector<std::uint64_t>& clients) {
  std::vector<invited> cohort;
  for (const auto client : clients)
    cohort.push_back(
      {.client = {client},
       .seed = derive_seed(derive_seed(7, "visit", client), "round", round_)});
  ++round_;
  const auto done = loop_->round(cohort);
  ASSERT_TRUE(done) << done.error().context;
}

double quadratic_federation::distance_to(const std::vector<double>& w) const {
  double result = 0;
  for (std::size_t j = 0; j < w.size(); ++j)
    result = std::max(result, std::abs(model()[j] - w[j]));
  return result;
}

models::visit_input quadratic_federation::visit(std::uint64_t client,
                                                std::uint64_t seed) const {
  models::visit_input x{.visit = {{client}, {1}},
                        .seed = seed,
                        .fetched = {},
                        .chosen = {},
                        .state = loop_->state({client})};
  for (const auto& line : blocks().lines) {
    const auto& head = loop_->line(line.id);
    for (std::size_t i = 0; i < line.blocks.size(); ++i)
      x.fetched.push_back({.block = line.blocks[i],
                           .base = {head.size() - 1},
                           .values = head.back().values[i]});
  }
  return x;
}

} // namespace troupe::test
