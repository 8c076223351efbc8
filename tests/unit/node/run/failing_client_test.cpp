// A client of whose visits none comes to anything, and queues that are full.

#include <sys/resource.h>

#include <gmock/gmock.h>

#include "tests/support/small_runs.hpp"

namespace troupe::test {

using ::testing::HasSubstr;

TEST(failing_client, does_not_keep_others_from_learning_under_any_pace) {
  const scratch_folder scratch;
  for (const std::string mode : {"sync", "semisync", "fedbuff", "fedasync"}) {
    auto changes = under(mode, {"attack.clients=1", "attack.scale=1e30",
                                "clients_per_round=12", "concurrency=12",
                                "selection.kind=round_robin"});
    changes.emplace_back(mode == "sync" || mode == "semisync" ? "rounds=20"
                                                              : "versions=60");
    const auto done =
      finished(configured(quadratic_run, changes, scratch.path()));
    EXPECT_GE(done.versions, 20u) << mode;
    ASSERT_EQ(done.failures.size(), 1u) << mode;
    const auto& [client, failed] = *done.failures.begin();
    EXPECT_EQ(client, client_id{1}) << mode;
    EXPECT_EQ(failed.count, 3u) << mode; // It is left alone then.
    EXPECT_THAT(failed.why, HasSubstr("malformed")) << mode;
    EXPECT_THAT(to_text(done), HasSubstr("client 1: 3 visits")) << mode;
  }
}

TEST(failing_client, ends_the_run_where_all_do) {
  const scratch_folder scratch;
  for (const std::string mode : {"sync", "semisync", "fedbuff", "fedasync"}) {
    const auto x = configured(
      quadratic_run, under(mode, {"attack.clients=12", "attack.scale=1e30"}),
      scratch.path());
    const auto done = node::run(x, {.make_model = no_model});
    ASSERT_TRUE(done) << done.error().context;
    EXPECT_TRUE(done->failed) << mode;
    EXPECT_THAT(done->reason, HasSubstr("malformed")) << mode;
    EXPECT_LT(done->visits, 600u) << mode;
  }
}

// A rule that needs more offers than there are makes no version of them, and
// the run goes on: two of nine always fail; windows bring one or many; of the
// experts some are chosen by few.
TEST(robust_rule, waits_for_as_many_offers_as_it_needs) {
  const scratch_folder scratch;
  const overrides runs[] = {
    {"clients=9", "clients_per_round=9", "merge.rule=trimmed_mean",
     "merge.trim=4", "attack.clients=2", "attack.scale=1e30", "rounds=8"},
    {"mode=semisync", "window_seconds=0.05", "rounds=20",
     "merge.rule=trimmed_mean", "merge.trim=2"},
    {"mode=semisync", "window_seconds=0.05", "rounds=20", "merge.rule=krum",
     "merge.bad=2", "clients_per_round=12", "concurrency=12"}};
  for (const auto& changes : runs) {
    const auto x = configured(quadratic_run, changes, scratch.path());
    const auto done = node::run(x, {.make_model = no_model});
    ASSERT_TRUE(done) << done.error().context;
    // The first has too few for ever once the two are left alone.
    if (&changes == runs) {
      EXPECT_TRUE(done->failed);
      EXPECT_THAT(done->reason, HasSubstr("made no version"));
    } else {
      EXPECT_FALSE(done->failed) << done->reason;
      EXPECT_EQ(done->rounds, 20u);
    }
  }
}

TEST(robust_rule, leaves_a_line_as_it_is_that_has_too_few) {
  const scratch_folder scratch;
  const auto done = finished(
    configured(quadratic_run,
               {"method=ifca", "merge.rule=trimmed_mean", "merge.trim=1",
                "clients_per_round=8", "components=3", "rounds=12"},
               scratch.path()));
  EXPECT_EQ(done.rounds, 12u);
}

// Each line takes 4,096 offers, and a window that is long brings more.
TEST(full_queue, does_not_stall_a_simulation) {
  const scratch_folder scratch;
  const auto done =
    finished(configured(quadratic_run,
                        {"mode=semisync", "clients=600", "concurrency=600",
                         "window_seconds=20", "rounds=2", "evaluate_every=0"},
                        scratch.path()));
  EXPECT_EQ(done.rounds, 2u);
  EXPECT_GT(done.visits, 4096u);
}

// Who comes back once a second for a long time takes no more memory for that.
TEST(full_queue, leaves_nothing_behind_of_who_comes_back) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps what was given back";
#endif
  const scratch_folder scratch;
  const auto peak_after = [&](const std::string& seconds) {
    finished(
      configured(quadratic_run,
                 {"mode=semisync", "clients=600", "concurrency=600",
                  "window_seconds=" + seconds, "rounds=1", "evaluate_every=0"},
                 scratch.path()));
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss / 1024; // MiB
  };
  const auto before = peak_after("200");
  EXPECT_LT(peak_after("1200") - before, 20);
}

TEST(large_cohort, is_invited_whole) {
  const scratch_folder scratch;
  const auto done =
    finished(configured(quadratic_run,
                        {"clients=5000", "clients_per_round=5000", "rounds=2",
                         "evaluate_every=0", "local_steps=1", "dimension=2"},
                        scratch.path()));
  EXPECT_EQ(done.versions, 2u);
  EXPECT_EQ(done.visits, 10'000u);
}

} // namespace troupe::test
