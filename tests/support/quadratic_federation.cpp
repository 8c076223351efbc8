#include "tests/support/quadratic_federation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "models/adapters/adapted_task.hpp"

namespace troupe::test {

quadratic_federation::quadratic_federation(quadratic_setting how)
  : problem_(models::make_quadratic_problem(how.problem)) {
  models::quadratic model{problem_};
  const auto adapters =
    models::adapters_for(how.method, model.parameter_list(), how.how.method)
      .value();
  auto blocks = models::make_layout(
    how.method, models::shapes_of(model, adapters),
    {.weight_max = static_cast<double>(how.problem.rows_per_client)});
  EXPECT_TRUE(blocks) << blocks.error().context;
  blocks_ = *blocks;
  const auto initial = models::initial_values(model, blocks_, 1, adapters);
  const auto clients = how.problem.clients;
  auto dealt = models::partition_of(*problem_);
  for (std::size_t k = 0; k < how.rows.size(); ++k)
    dealt.train[k].resize(how.rows[k]);
  auto task = std::make_shared<const models::local_task>(models::local_task{
    .method = how.method,
    .blocks = blocks_,
    .how = how.how,
    .clients = dealt,
    .test_size = clients,
    .attackers = how.attackers,
    .adapters = adapters,
    .own_adapters =
      models::own_adapters_for(how.method, model, how.how.method).value(),
    .frozen = models::frozen_values(model, how.method, 1)});
  const auto make = models::local_trainers(
    task,
    [problem = problem_,
     make = how.make_model]() -> result<std::unique_ptr<models::objective>> {
      if (make)
        return make(problem);
      return std::make_unique<models::quadratic>(problem);
    },
    {.most = how.in_step, .bytes = how.bytes_in_step}, how.make_backend);
  auto trainer = make();
  EXPECT_TRUE(trainer) << trainer.error().context;
  trainer_ = std::move(*trainer);
  loop_ = std::make_unique<reference_loop>(
    *trainer_, reference_options{.method = how.method,
                                 .blocks = blocks_,
                                 .initial = initial,
                                 .server = how.server,
                                 .admitted = clients});
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
  for (const auto& line : blocks_.lines) {
    const auto& head = loop_->line(line.id);
    for (std::size_t i = 0; i < line.blocks.size(); ++i)
      x.fetched.push_back({.block = line.blocks[i],
                           .base = {head.size() - 1},
                           .values = head.back().values[i]});
  }
  return x;
}

} // namespace troupe::test
