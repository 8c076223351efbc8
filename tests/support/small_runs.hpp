#pragma once

// Runs that take milliseconds: clients on a quadratic, under any method and
// pace.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/recipe.hpp"
#include "node/config/config.hpp"
#include "node/run/run.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::test {

using overrides = std::vector<std::string>;

/// Twelve clients on a quadratic, six rounds of four; devices differ tenfold.
inline constexpr std::string_view quadratic_run = R"(
name = "small"
method = "fedavg"
rounds = 6
evaluate_every = 2
workers = 2
ledger = "memory"
events = false
[data]
kind = "quadratic"
dimension = 5
[model]
kind = "quadratic"
[clients]
clients = 12
clients_per_round = 4
[pace]
mode = "sync"
buffer_size = 3
window_seconds = 0.5
[training]
local_steps = 5
batch_size = 0
learning_rate = 0.1
[devices]
seconds_per_step = 0.01
speed = { kind = "uniform", slowest = 0.1, fastest = 1.0 }
)";

inline node::experiment configured(std::string_view text,
                                   const overrides& changes,
                                   const std::string& folder) {
  const auto loaded = node::parse_config({text, "small.toml"}, changes);
  if (!loaded) {
    ADD_FAILURE() << loaded.error().context;
    return {};
  }
  auto x = loaded->x;
  x.folder = folder;
  return x;
}

/// A method, with options under which a cohort of three has each of its roles.
inline overrides of_method(const std::string& name, overrides more = {}) {
  overrides x{"method=" + name};
  if (name == "ddome")
    x.insert(x.end(), {"options.experts=3", "options.chosen=2",
                       "options.anchors=2", "options.anchors_per_round=1"});
  x.insert(x.end(), more.begin(), more.end());
  return x;
}

/// Whether what it merges may be sent as bf16.
inline bool may_be_rounded(const recipe& method) {
  return method.offers
         && std::ranges::all_of(method.blocks, [](const block_spec& x) {
              return !travels(x.where) || x.merge.kind == merge_kind::mean;
            });
}

/// What ends a run under this pace after a moment.
inline overrides under(std::string_view mode, overrides more = {}) {
  more.push_back("mode=" + std::string{mode});
  if (mode != "sync" && mode != "semisync")
    more.push_back("versions=6"); // In place of the rounds.
  return more;
}

inline result<std::unique_ptr<models::objective>>
no_model(const node::model_options&, std::shared_ptr<const models::dataset>) {
  return fail(errc::unsupported, "this test has quadratics only");
}

inline node::run_summary finished(const node::experiment& x,
                                  const node::run_context& in) {
  const auto done = node::run(x, in);
  if (!done) {
    ADD_FAILURE() << done.error().context;
    return {};
  }
  EXPECT_FALSE(done->failed) << done->reason;
  return *done;
}

inline node::run_summary
finished(const node::experiment& x,
         const node::model_maker& make_model = no_model) {
  return finished(x, node::run_context{.make_model = make_model});
}

} // namespace troupe::test
