#pragma once

// Runs whose clients look through a model that nobody trains.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "node/task/common_values.hpp"
#include "node/task/workload.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

inline constexpr std::string_view gated_run = R"(
name = "gated"
method = "ddome"
rounds = 4
evaluate_every = 0
workers = 1
ledger = "memory"
events = false
[data]
kind = "clusters"
[clients]
clients = 6
clients_per_round = 4
[pace]
mode = "sync"
[model]
kind = "regression"
hidden = [5]
[common_model]
hidden = [4]
[training]
local_steps = 3
batch_size = 0
learning_rate = 0.01
[options]
experts = 2
chosen = 1
anchors = 2
anchors_per_round = 1
[merge]
delta_max = 4096.0
)";

class common_model_run : public ::testing::Test {
protected:
  std::string folder(const std::string& name) const {
    return scratch_.path() + '/' + name;
  }

  /// The folder of a run that trains what the others look through.
  std::string trained(const std::string& seed) const {
    return finished(
             configured(gated_run,
                        {"method=fedavg", "model.hidden=[4]", "seed=" + seed},
                        folder("trained-" + seed)))
      .folder;
  }

  node::experiment over(const std::string& common,
                        overrides changes = {}) const {
    changes.push_back("common=" + common);
    return configured(gated_run, changes, folder("gated"));
  }

  static node::workload prepared(const node::experiment& x) {
    auto made = node::prepare(x, no_model);
    EXPECT_TRUE(made) << made.error().context;
    return made ? std::move(*made) : node::workload{};
  }

  static std::filesystem::path kept_in(const std::string& run) {
    return std::filesystem::path{run} / node::common_file;
  }

  scratch_folder scratch_;
};

} // namespace troupe::test
