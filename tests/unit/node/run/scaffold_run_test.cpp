// SCAFFOLD under every pace and staleness: what the server keeps is what the
// clients have, and the run ends where it should.

#include <cmath>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "models/safetensors.hpp"
#include "models/tasks/quadratic.hpp"
#include "node/task/workload.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

struct ended {
  node::experiment x;
  node::run_summary summary = {};
  std::map<client_id, actors::state_ptr> states = {};
  std::vector<float> model = {};
  std::vector<float> control = {};
};

ended run_of(const overrides& changes, const scratch_folder& scratch) {
  ended result{.x = configured(quadratic_run, changes, scratch.path())};
  const auto files = std::make_shared<actors::memory_vault>();
  const auto done =
    node::run(result.x, {.make_model = no_model, .files = files});
  EXPECT_TRUE(done) << done.error().context;
  if (!done)
    return result;
  EXPECT_FALSE(done->failed) << done->reason;
  result.summary = *done;
  result.states = files->states();
  const auto file =
    models::read_safetensors(done->folder + "/model.safetensors");
  EXPECT_TRUE(file) << file.error().context;
  const auto work = node::prepare(result.x, no_model);
  const auto values = [&](const char* name) {
    const auto* block = work->blocks->find(name);
    auto tensors = block->tensors;
    for (auto& y : tensors)
      y.name = block->name + "/" + y.name;
    auto found = models::values_of(*file, tensors, name);
    if (!found)
      found = models::values_of(*file, block->tensors, name);
    EXPECT_TRUE(found) << found.error().context;
    return found ? *found : std::vector<float>{};
  };
  result.model = values("model");
  result.control = values("control");
  return result;
}

/// The distance of N c from the sum of all c_i, as a part of its norm.
double gap_of(const ended& x) {
  std::vector<double> sum(x.control.size());
  for (const auto& [client, state] : x.states)
    if (const auto own = state->blocks.find("own_control");
        own != state->blocks.end())
      for (std::size_t j = 0; j < sum.size(); ++j)
        sum[j] += static_cast<double>(own->second.own_view()[j]);
  double apart = 0, norm = 0;
  for (std::size_t j = 0; j < sum.size(); ++j) {
    const auto n = static_cast<double>(x.x.clients.clients);
    const auto d = n * static_cast<double>(x.control[j]) - sum[j];
    apart += d * d;
    norm += sum[j] * sum[j];
  }
  EXPECT_GT(norm, 0);
  return std::sqrt(apart / norm);
}

/// Of the model from the minimum of the plain mean over clients.
double distance_of(const ended& x) {
  const auto problem =
    models::make_quadratic_problem({.seed = derive_seed(x.x.seed, "data"),
                                    .dimension = x.x.data.dimension,
                                    .clients = x.x.clients.clients});
  const auto best =
    models::optimum(*problem, std::vector<double>(x.x.clients.clients, 1));
  double sum = 0;
  for (std::size_t j = 0; j < best.size(); ++j) {
    const auto d = static_cast<double>(x.model[j]) - best[j];
    sum += d * d;
  }
  return std::sqrt(sum);
}

const char* const discounts[]{"constant", "polynomial", "hinge", "exponential"};

} // namespace

TEST(scaffold_run, keeps_the_sum_of_what_clients_keep) {
  const scratch_folder scratch;
  for (const std::string mode : {"sync", "semisync", "fedbuff"})
    for (const std::string discount : discounts) {
      auto changes = under(mode, {"method=scaffold", "staleness=" + discount});
      changes.emplace_back(mode == "fedbuff" ? "versions=60" : "rounds=60");
      changes.emplace_back("concurrency=8");
      const auto x = run_of(changes, scratch);
      EXPECT_GT(x.summary.visits, 100u);
      // A client that waits for its verdict has not moved its own yet, and the
      // server has not either; one whose offer is merged has heard of it.
      EXPECT_LT(gap_of(x), 1e-5) << mode << " with " << discount;
    }
}

// The sum is over all who were admitted, and there are more of them later.
TEST(scaffold_run, keeps_the_sum_when_clients_join) {
  const scratch_folder scratch;
  const auto scenario = scratch.path() + "/scenario.toml";
  std::ofstream{scenario} << "[[scene]]\nversion = 20\njoin = [8, 12]\n";
  for (const std::string mode : {"sync", "semisync", "fedbuff"}) {
    auto changes = under(mode, {"method=scaffold", "scenario=" + scenario});
    changes.emplace_back(mode == "fedbuff" ? "versions=60" : "rounds=60");
    EXPECT_LT(gap_of(run_of(changes, scratch)), 1e-5) << mode;
  }
}

// Where clients' drift is corrected by what does not add up, it ends elsewhere.
TEST(scaffold_run, ends_at_the_optimum_however_stale_offers_are) {
  const scratch_folder scratch;
  for (const std::string mode : {"sync", "semisync", "fedbuff"})
    for (const std::string discount : discounts) {
      auto changes = under(mode, {"method=scaffold", "staleness=" + discount});
      changes.emplace_back(mode == "fedbuff" ? "versions=2000" : "rounds=1500");
      changes.emplace_back("concurrency=8");
      changes.emplace_back("evaluate_every=0");
      const auto x = run_of(changes, scratch);
      EXPECT_LT(distance_of(x), 1e-3) << mode << " with " << discount;
    }
}

} // namespace troupe::test
