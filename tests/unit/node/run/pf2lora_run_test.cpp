// PF2LoRA's synthetic task with all actors: what must come out, what cannot,
// and what stays with the client.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/random.hpp"
#include "tests/support/low_rank_federation.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

// The first draw whose truths have the effective ranks 3 and 4.
constexpr std::uint64_t seed = 2;

class pf2lora_run : public ::testing::Test {
protected:
  node::run_summary after(overrides changes,
                          const std::string& example = "synthetic.toml") {
    std::ifstream file{TROUPE_SOURCE_DIR "/deploy/examples/pf2lora/" + example};
    std::ostringstream text;
    text << file.rdbuf();
    changes.push_back("evaluate_every=20");
    changes.push_back("seed=" + std::to_string(seed));
    return finished(configured(text.str(), changes, scratch_.path()));
  }

  scratch_folder scratch_;
};

double found(const node::run_summary& x, const std::string& name) {
  const auto at = x.method_results.find(name);
  EXPECT_NE(at, x.method_results.end()) << name;
  return at == x.method_results.end() ? -1 : at->second;
}

/// Of both clients together, squared.
double distance(const node::run_summary& x, const std::string& moment) {
  return found(x, "distance_" + moment + ".1")
         + found(x, "distance_" + moment + ".2");
}

models::low_rank_problem truth() {
  return models::make_low_rank_problem({.seed = derive_seed(seed, "data")});
}

} // namespace

TEST_F(pf2lora_run, finds_the_ranks_of_the_truths_before_the_average) {
  const auto two_levels = after({});
  EXPECT_EQ(found(two_levels, "ranks_met_pre"), 2);
  EXPECT_EQ(found(two_levels, "rank_pre.1"), 3);
  EXPECT_EQ(found(two_levels, "rank_pre.2"), 4);
  EXPECT_LT(found(two_levels, "distance_pre.1"), 3);
  EXPECT_LT(found(two_levels, "distance_pre.2"), 3);
  const auto one = after({"method=homlora", "rounds=100"});
  EXPECT_GT(distance(one, "pre"), 10 * distance(two_levels, "pre"));
  // After an average both share a matrix, and differ by rank 4 at most.
  const auto truths = truth().truths;
  auto between = truths[0];
  for (std::size_t j = 0; j < between.size(); ++j)
    between[j] -= truths[1][j];
  EXPECT_GE(distance(two_levels, "post"),
            0.5 * squares_from(spectrum_of(between), 4));
}

TEST_F(pf2lora_run, keeps_what_it_found_where_the_truths_have_much_in_common) {
  const auto end = after(
    {"truth=aligned", "learning_rate=0.01", "inner_rate=0.01", "rounds=100"});
  EXPECT_EQ(found(end, "ranks_met_post"), 2);
  EXPECT_LT(found(end, "distance_post.1"), 0.05);
  EXPECT_LT(found(end, "distance_post.2"), 0.05);
}

TEST_F(pf2lora_run, does_what_hetlora_cannot) {
  const auto end = after({"rounds=40"}, "hetlora.toml");
  EXPECT_LE(found(end, "kept_rank.1"), 2);
  EXPECT_LE(found(end, "rank_post.1"), 2);
  const auto least = squares_from(spectrum_of(truth().truths[0]), 2);
  EXPECT_GE(found(end, "distance_post.1"), least);
  EXPECT_GE(found(end, "distance_pre.1"), least);
}

// Specification, 8.6: four bytes a parameter of the common adapter, each way,
// and the frame.
TEST_F(pf2lora_run, sends_the_common_adapter_and_nothing_else) {
  constexpr std::uint64_t visits = 10, of_a_rank = 4 * 20;
  const auto sent = [&](overrides changes) {
    changes.push_back("rounds=5");
    const auto end = after(changes);
    return std::pair{end.bytes_up / visits, end.bytes_down / visits};
  };
  const auto bytes = sent({});
  EXPECT_GT(bytes.first, 4 * of_a_rank);
  EXPECT_LT(bytes.first, 4 * of_a_rank + 400);
  for (const auto* same :
       {"own_rank=1", "own_rank=4", "training.optimiser=adamw",
        "method=homlora", "method=per_fedavg_lora", "four_batches=1"})
    EXPECT_EQ(sent({same}), bytes) << same;
  const auto larger = sent({"method=homlora", "rank=6"});
  EXPECT_EQ(larger.first - bytes.first, 2 * of_a_rank);
  EXPECT_EQ(larger.second - bytes.second, 2 * of_a_rank);
}

// Specification, 10.17: of eight clients with ranks from 8 to 12, rounded down,
// which is 9.5 ranks a visit where HOMLoRA has 8.
TEST_F(pf2lora_run, sends_of_hetlora_the_ranks_that_clients_have) {
  const auto sent = [&](const char* rounds, overrides changes) {
    for (const auto* same : {"clients=8", "clients_per_round=8", "batch_size=0",
                             "learning_rate=1e-4", rounds})
      changes.emplace_back(same);
    const auto end = after(changes, "../floral/synthetic_linear.toml");
    return std::pair{static_cast<double>(end.bytes_up),
                     static_cast<double>(end.bytes_down)};
  };
  const auto later = [&](const overrides& changes) {
    const auto first = sent("rounds=2", changes);
    const auto all = sent("rounds=7", changes);
    return std::pair{all.first - first.first, all.second - first.second};
  };
  const overrides hetlora{"method=hetlora", "rank=12", "rank_min=8",
                          "keep_share=1", "penalty=0"};
  const auto one = later({"method=homlora", "rank=1"});
  const auto two = later({"method=homlora", "rank=2"});
  const auto het = later(hetlora);
  EXPECT_EQ(het.first - one.first, 8.5 * (two.first - one.first));
  EXPECT_EQ(het.second - one.second, 8.5 * (two.second - one.second));
  // Who has not trained yet does not know its rank, and fetches all.
  const auto begins = [&](const overrides& changes) {
    return sent("rounds=1", changes).second;
  };
  EXPECT_EQ(begins(hetlora) - begins({"method=homlora", "rank=1"}),
            11
              * (begins({"method=homlora", "rank=2"})
                 - begins({"method=homlora", "rank=1"})));
}

TEST_F(pf2lora_run, goes_on_after_crashes_as_if_nothing_had_happened) {
  const auto with = [&](overrides changes) {
    for (const auto* same :
         {"rounds=20", "training.optimiser=adamw", "seconds_per_step=0.01"})
      changes.emplace_back(same);
    return after(changes);
  };
  const auto calm = with({});
  const auto broken =
    with({"crashes.per_hour=1500", "crashes.restart_seconds=0.5"});
  EXPECT_GT(*broken.virtual_seconds, 1.1 * *calm.virtual_seconds);
  EXPECT_EQ(broken.digest, calm.digest);
  EXPECT_EQ(distance(broken, "pre"), distance(calm, "pre"));
  EXPECT_EQ(found(broken, "own_adapters_lost"), 0);
}

} // namespace troupe::test
