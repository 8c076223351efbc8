// Under `sync` with full quorum the actors compute what a plain loop on one
// thread does, to the bit.

#include <gtest/gtest.h>

#include "tests/support/any_model.hpp"
#include "tests/support/plain_run.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

TEST(sync_run, is_the_plain_loop_for_every_recipe) {
  const scratch_folder scratch;
  for (const auto& method : methods_of_any_model())
    for (const std::string server : {"plain", "momentum", "adam"}) {
      if (!method.offers && server != "plain")
        continue; // There is no step to make.
      const auto x =
        configured(quadratic_run,
                   of_method(method.name, {"server.optimiser=" + server,
                                           "server_learning_rate=0.5"}),
                   scratch.path());
      expect_plain_run(x, no_model, method.name + " with " + server);
    }
}

TEST(sync_run, is_the_plain_loop_for_every_selection_and_weight) {
  const scratch_folder scratch;
  for (const std::string change :
       {"selection.kind=round_robin", "selection.kind=by_size",
        "example_weight=sqrt", "merge.rule=median", "merge.rule=trimmed_mean",
        "training.stragglers=0.5"}) {
    const auto x = configured(quadratic_run, {change}, scratch.path());
    expect_plain_run(x, no_model, change);
  }
}

// The control variate is a sum over those who can be invited.
TEST(sync_run, is_the_plain_loop_where_clients_are_held_out) {
  const scratch_folder scratch;
  for (const std::string method : {"fedavg", "scaffold", "ditto"}) {
    const auto x = configured(quadratic_run, {"method=" + method, "held_out=5"},
                              scratch.path());
    expect_plain_run(x, no_model, method);
  }
  // Who asks for experts, and is served without having trained.
  const auto x = configured(quadratic_run, of_method("ddome", {"held_out=3"}),
                            scratch.path());
  expect_plain_run(x, no_model, "ddome");
}

// What is fetched and offered there is the first ranks of two factors.
TEST(sync_run, is_the_plain_loop_where_clients_have_few_ranks) {
  const scratch_folder scratch;
  for (const std::string penalty : {"0", "1"}) {
    const auto x =
      configured(quadratic_run,
                 {"method=hetlora", "data.kind=clusters", "data.task=linear",
                  "data.clusters=2", "model.kind=regression", "model.hidden=[]",
                  "rank=5", "rank_min=1", "keep_share=0.8",
                  "penalty=" + penalty, "learning_rate=0.01"},
                 scratch.path());
    expect_plain_run(x, no_model, "penalty " + penalty);
  }
}

} // namespace troupe::test
