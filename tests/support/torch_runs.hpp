#pragma once

// Runs with real models that take less than a second.

#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "node/task/torch_model.hpp"
#include "node/task/workload.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

inline constexpr std::string_view synthetic_run = R"(
name = "small"
method = "fedavg"
rounds = 3
evaluate_every = 1
workers = 2
ledger = "memory"
events = false
[data]
kind = "synthetic"
dimension = 6
[model]
kind = "mlp"
hidden = [7]
[clients]
clients = 8
clients_per_round = 3
[partition]
kind = "natural"
samples_per_client = 40
[pace]
mode = "sync"
buffer_size = 3
window_seconds = 0.1
[training]
batch_size = 8
learning_rate = 0.05
[devices]
seconds_per_step = 0.01
speed = { kind = "uniform", slowest = 0.1, fastest = 1.0 }
)";

/// By the torch of this program: a run loads a library.
inline result<node::workload> torch_work(const node::experiment& x) {
  return node::materials_of(x, node::models_by(*troupe_torch()),
                            node::inner_models_by(*troupe_torch()))
    .and_then([&](node::materials found) {
      return node::prepare(x, std::move(found));
    });
}

class torch_run : public ::testing::Test {
protected:
  node::experiment described(const overrides& changes) {
    return configured(synthetic_run, changes, scratch_.path());
  }

  node::run_summary go(const overrides& changes) {
    return finished(described(changes), node::models_by(*troupe_torch()));
  }

  scratch_folder scratch_;
};

/// A recipe, with ranks that layers of 6 can have.
inline overrides small(const recipe& method) {
  auto x = of_method(method.name);
  if (find_option(method, "rank_min"))
    return x;
  for (const std::string name : {"rank", "own_rank"})
    if (const auto* rank = find_option(method, name); rank && rank->value > 6)
      x.push_back(name + "=3");
  return x;
}

} // namespace troupe::test
