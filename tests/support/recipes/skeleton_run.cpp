#include "tests/support/recipes/skeleton_run.hpp"

namespace troupe::test {

namespace {

scenario scenario_of(const world_of_run& x) {
  return {.mode = x.mode,
          .clients = 9,
          .versions = x.versions,
          .buffer_size = 3,
          .concurrency = 4,
          .staleness_max = x.staleness_max,
          .pending_max = 8,
          .over_selection = x.kind ? 1.0 : 1.3,
          .quorum = x.kind ? 4u : 2u};
}

faults faults_of(const world_of_run& x) {
  // Nothing overtakes, so that all answers are heard before the farewell.
  if (x.kind)
    return {.delay_ms_max = 0};
  return {.loss = 0.08,
          .duplication = 0.05,
          .corruption = 0.03,
          .truncation = 0.02,
          .partition = 0.005,
          .job_failure = 0.03,
          .job_slowness = 0.03,
          .failure = 0.15,
          .silence = 0.03,
          .node_crash = x.seed % 2 == 0 ? 0.0008 : 0,
          .actor_crash = x.seed % 2 == 0 ? 0.0008 : 0,
          .client_crash = 0.001,
          .delay_ms_max = 60};
}

} // namespace

std::unique_ptr<skeleton_run> run(sim_method how, const world_of_run& x) {
  SCOPED_TRACE(how.what.name + " with seed " + std::to_string(x.seed));
  auto result = std::make_unique<skeleton_run>();
  result->how = std::move(how);
  result->node = std::make_unique<sim_node>(x.seed, scenario_of(x), result->how,
                                            faults_of(x), result->happened,
                                            result->said.witness());
  auto& node = *result->node;
  const auto go = [&](int steps, auto until) {
    while (steps-- > 0 && !until() && !::testing::Test::HasFailure()
           && node.step())
      ;
  };
  const auto finished = [&] { return node.finished(); };
  if (!x.kind) {
    go(4'000, finished);
    node.heal();
  }
  go(300'000, finished);
  EXPECT_TRUE(node.finished()) << "the run does not end";
  if (node.finished()) {
    // What is on its way still arrives.
    const auto end = node.now() + std::chrono::seconds{1};
    go(100'000, [&] { return node.now() > end; });
    node.check_end();
  }
  EXPECT_EQ(result->said.frames_with_marks(), 0u)
    << "a personal value has left";
  return result;
}

const char* name_of(pace_kind x) {
  return x == pace_kind::sync ? "sync" : "fedbuff";
}

} // namespace troupe::test
