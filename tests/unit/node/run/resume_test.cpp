// A simulated run that is killed goes on from its last snapshot, and ends as
// the unbroken one does: the same digests, events and metrics.

#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.hpp"
#include "core/random.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in{file};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

fs::path only_folder_in(const fs::path& parent) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator{parent, none})
    return entry.path();
  return {};
}

struct scene {
  std::string_view mode;
  overrides changes;
};

overrides long_enough(const scene& x) {
  overrides all = x.changes;
  for (const auto* more : {"ledger=disk", "events=true", "evaluate_every=5",
                           "snapshot_seconds=0.005"})
    all.push_back(more);
  all.push_back("mode=" + std::string{x.mode});
  const bool rounds = x.mode == "sync" || x.mode == "semisync";
  all.push_back(rounds ? "rounds=150" : "versions=150");
  return all;
}

/// Runs it in a process of its own that dies after a while.
void run_and_kill(const node::experiment& x, instant after) {
  const auto child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    (void)node::run(x, {.make_model = no_model});
    _exit(0);
  }
  std::this_thread::sleep_for(after);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
}

class killed_run : public testing::TestWithParam<scene> {};

} // namespace

TEST_P(killed_run, ends_as_if_nothing_had_happened) {
  const auto changes = long_enough(GetParam());
  const scratch_folder scratch;
  const auto began = steady_now();
  const auto whole =
    finished(configured(quadratic_run, changes, scratch.path() + "/whole"));
  const auto took = seconds(steady_now() - began);
  random_stream draw{derive_seed(1, GetParam().mode)};
  int resumed = 0;
  for (int attempt = 0; attempt < 40 && resumed < 4; ++attempt) {
    const auto place = scratch.path() + "/" + std::to_string(attempt);
    const auto x = configured(quadratic_run, changes, place);
    run_and_kill(x, from_seconds(took * draw.uniform()));
    const auto folder = only_folder_in(place);
    if (folder.empty() || fs::exists(folder / "summary.json"))
      continue;
    const auto done = node::run(x, {.make_model = no_model, .resume = folder});
    if (!done && done.error().context.find("holds no") != std::string::npos)
      continue; // Killed before its first snapshot.
    ASSERT_TRUE(done) << done.error().context;
    ++resumed;
    EXPECT_EQ(done->digest, whole.digest);
    EXPECT_EQ(done->visits, whole.visits);
    EXPECT_EQ(done->virtual_seconds, whole.virtual_seconds);
    EXPECT_EQ(text_of(folder / "events.jsonl"),
              text_of(fs::path{whole.folder} / "events.jsonl"));
    EXPECT_EQ(text_of(folder / "metrics.jsonl"),
              text_of(fs::path{whole.folder} / "metrics.jsonl"));
  }
  EXPECT_GE(resumed, 3) << "nothing was killed at the right time";
}

INSTANTIATE_TEST_SUITE_P(
  paces, killed_run,
  testing::Values(
    scene{"sync", {"method=scaffold"}},
    scene{"sync", {"method=ditto", "over_selection=1.5"}},
    scene{"semisync", {}}, scene{"fedbuff", {"server.optimiser=adam"}},
    scene{"fedbuff", {"method=ditto", "refill=version"}}, scene{"fedasync", {}},
    scene{"fedbuff",
          {"method=scaffold", "drop_out=0.1", "availability.kind=windows",
           "period=20", "per_hour=200", "restart_seconds=1"}}),
  [](const auto& x) {
    return std::string{x.param.mode} + std::to_string(x.index);
  });

} // namespace troupe::test
