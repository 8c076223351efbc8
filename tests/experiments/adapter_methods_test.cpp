// What the methods over a frozen model cost, and how steadily they learn.

#include <gtest/gtest.h>

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/adapter_site.hpp"
#include "tests/support/low_rank_federation.hpp"

namespace troupe::test::adapter_methods_test {

namespace {

/// Of this thread: others use the machine too.
double seconds_computed() {
  timespec x{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &x);
  return static_cast<double>(x.tv_sec) + 1e-9 * static_cast<double>(x.tv_nsec);
}

/// A method that trains an adapter of a model of 128 x 128 x 128.
struct contender {
  contender(const char* name, std::string_view method, options said)
    : name(name),
      site(site_of(method, std::move(said))) {
    // nop
  }

  static adapter_site site_of(std::string_view method, options said) {
    const auto problem = linear_problem(128, 128, 256, 3);
    models::training_options how;
    how.local_steps = 4;
    how.batch_size = 128;
    how.learning_rate = 1e-4;
    said["inner_rate"] = 1e-4;
    return adapter_site{{.method = method,
                         .problem = problem,
                         .how = how,
                         .said = std::move(said),
                         .model = std::make_unique<models::regression>(
                           problem, std::vector<std::size_t>{128}),
                         .clients = problem->clients}};
  }

  void visit() {
    const auto size = site.blocks.blocks.front().size;
    const auto began = seconds_computed();
    const auto out =
      site.trainer->train(site.visit(std::vector<float>(size, 0.01f)));
    EXPECT_TRUE(out) << out.error().context;
    least = std::min(least, (seconds_computed() - began) / 4);
  }

  const char* name;
  adapter_site site;
  double least = std::numeric_limits<double>::infinity(); ///< Of one step.
};

/// Of a run, round by round.
struct course {
  std::vector<double> losses; ///< Mean over clients and steps.
  std::set<int> pruned;       ///< Rounds in which a client gave up ranks.
};

course course_of(const models::low_rank_problem& of, const way& how) {
  low_rank_federation federation{of, how, 1};
  course result;
  std::map<std::uint64_t, std::uint64_t> ranks;
  for (int r = 0; r < 200; ++r) {
    federation.round();
    result.losses.push_back(federation.loop().loss());
    for (std::uint64_t k = 1; k <= 2; ++k) {
      const auto& counters = federation.loop().state({k})->counters;
      const auto found = counters.find("rank");
      if (found == counters.end())
        continue;
      if (ranks.contains(k) && found->second < ranks[k])
        result.pruned.insert(r);
      ranks[k] = found->second;
    }
  }
  return result;
}

/// Rounds whose loss is above that of the round before, and by which share.
std::map<int, double> rises(const course& x) {
  std::map<int, double> result;
  for (std::size_t r = 1; r < x.losses.size(); ++r)
    if (const auto by = x.losses[r] / x.losses[r - 1] - 1; by > 1e-3)
      result[static_cast<int>(r)] = by;
  return result;
}

} // namespace

TEST(adapter_methods, cost_as_much_as_their_passes) {
  std::vector<contender> all;
  all.emplace_back("homlora", "homlora", options{});
  all.emplace_back("hetlora", "hetlora", options{{"rank", 12}});
  all.emplace_back("per_fedavg_lora", "per_fedavg_lora", options{});
  all.emplace_back("pf2lora", "pf2lora", options{});
  all.emplace_back("pf2lora, four batches", "pf2lora",
                   options{{"four_batches", 1}});
  // In turn: what disturbs the machine for a while disturbs all of them.
  for (int i = 0; i < 8; ++i)
    for (auto& x : all)
      x.visit();
  std::vector<double> times;
  for (const auto& x : all) {
    times.push_back(x.least / all[0].least);
    std::printf("%-22s %6.2f ms a step, %.2f times homlora\n", x.name,
                x.least * 1000, times.back());
  }
  EXPECT_LT(times[1], 1.7);
  EXPECT_GT(times[2], 1.3 * times[1]);
  EXPECT_GT(times[4], times[2]);
  for (const auto i : {3, 4}) {
    EXPECT_GT(times[static_cast<std::size_t>(i)], 2.5);
    EXPECT_LT(times[static_cast<std::size_t>(i)], 7);
  }
}

TEST(adapter_methods, rise_in_loss_where_hetlora_prunes) {
  int larger = 0;
  constexpr int draws = 3;
  for (std::uint64_t seed = 1; seed <= draws; ++seed) {
    const auto problem = models::make_low_rank_problem({.seed = seed});
    const auto two = course_of(problem, two_levels);
    const auto het = course_of(problem, pruned);
    const auto largest = [](const std::map<int, double>& x) {
      double result = 0;
      for (const auto& [round, by] : x)
        result = std::max(result, by);
      return result;
    };
    const auto of_two = rises(two), of_het = rises(het);
    std::printf("seed %d: pf2lora rises %zu times, by %.3f at most; hetlora "
                "%zu times, by %.3f; prunings after rounds",
                static_cast<int>(seed), of_two.size(), largest(of_two),
                of_het.size(), largest(of_het));
    for (const auto r : het.pruned)
      std::printf(" %d", r);
    std::printf("; rises in");
    for (const auto& [round, by] : of_het)
      std::printf(" %d (%.3f)", round, by);
    std::printf("\n");
    larger += largest(of_two) <= largest(of_het);
  }
  EXPECT_EQ(larger, draws);
}

} // namespace troupe::test::adapter_methods_test
