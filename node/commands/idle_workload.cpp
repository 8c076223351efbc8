#include "node/commands/idle_workload.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/assert.hpp"
#include "models/tasks/noop.hpp"
#include "node/config/config.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

constexpr std::string_view idle_text = R"(
clock = "wall"
evaluate_every = 0
[clients]
clients = 256
[pace]
mode = "fedbuff"
buffer_size = 64
concurrency = 192
[data]
kind = "quadratic"
[model]
kind = "quadratic"
)";

constexpr std::size_t idle_values = 1000;

} // namespace

workload idle_workload(const std::string& method, std::size_t clients,
                       std::size_t values) {
  const auto& all = policies::catalogue();
  const auto found = std::ranges::find(all, method, &recipe::name);
  TROUPE_ASSERT(found != all.end());
  workload work{.method = *found,
                .blocks = {},
                .initial = {},
                .task = {},
                .make_trainer = {},
                .has_labels = false,
                .life = {.clients = clients}};
  std::map<std::string, models::tensor_list> shapes;
  for (const auto& block : work.method.blocks)
    shapes[block.name] = {};
  const models::tensor_list whole{
    {.name = "w", .shape = {static_cast<std::int64_t>(values)}}};
  shapes[work.method.blocks.front().name] = whole;
  for (const auto& block : work.method.blocks) // A model of one's own.
    if (block.where == scope::personal && !block.name.ends_with(".buffers"))
      shapes[block.name] = whole;
  auto blocks =
    models::make_layout(work.method, shapes, {.weight_max = 1, .delta_max = 8});
  TROUPE_ASSERT(blocks.has_value());
  work.blocks = std::make_shared<const models::layout>(std::move(*blocks));
  for (const auto& block : work.blocks->blocks)
    work.initial[block.id] = share(std::vector<float>(block.size));
  auto task = std::make_shared<models::local_task>();
  task->clients.train.assign(clients, {0});
  task->clients.test.assign(clients, {});
  work.task = std::move(task);
  work.make_trainer = models::noop_trainers(*work.blocks, {});
  return work;
}

result<experiment> idle_experiment(std::vector<std::string> changes) {
  changes.push_back("method=" + policies::catalogue().front().name);
  return parse_config({idle_text, "bench"}, changes).map([](auto loaded) {
    return std::move(loaded.x);
  });
}

workload idle_workload_of(const experiment& x) {
  return idle_workload(x.method, x.clients.clients, idle_values);
}

} // namespace troupe::node
