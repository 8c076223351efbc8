// What a run says of its rounds is what its length counts.

#include <sstream>

#include <gmock/gmock.h>

#include "actors/record/sqlite_store.hpp"
#include "node/run/heads.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test::counted_rounds_test {

namespace {

using ::testing::HasSubstr;

/// The run, and what it said at its end.
std::pair<node::run_summary, std::string> told(const overrides& changes) {
  const scratch_folder scratch;
  std::ostringstream shown;
  const auto done =
    node::run(configured(quadratic_run, changes, scratch.path()),
              {.make_model = no_model, .progress = &shown});
  EXPECT_TRUE(done) << done.error().context;
  return {done.value_or(node::run_summary{}), shown.str()};
}

} // namespace

TEST(counted_rounds, leave_out_those_of_which_nothing_came) {
  const auto [done, shown] = told({"drop_out=0.6", "rounds=20", "events=true",
                                   "quorum=4", "round_deadline=5"});
  EXPECT_FALSE(done.failed) << done.reason;
  EXPECT_EQ(done.rounds, 20u);
  EXPECT_EQ(done.versions, 20u);
  EXPECT_GT(done.visits, 20u * 4) << "none was given up";
  EXPECT_THAT(shown, HasSubstr("100%  round 20/20"));
}

TEST(counted_rounds, are_told_where_nothing_is_merged) {
  for (const auto* mode : {"mode=sync", "mode=semisync"}) {
    const auto [done, shown] =
      told({"method=local", mode, "window_seconds=0.1", "rounds=20"});
    EXPECT_EQ(done.rounds, 20u) << mode;
    EXPECT_THAT(shown, HasSubstr("100%  round 20/20")) << mode;
  }
}

// The last one counts when its lines have said again that they have it.
TEST(counted_rounds, are_known_to_who_goes_on_with_a_run) {
  const scratch_folder scratch;
  const auto done =
    finished(configured(quadratic_run, {"ledger=disk"}, scratch.path()));
  const auto books = actors::make_sqlite_store({.folder = done.folder});
  ASSERT_TRUE(books) << books.error().context;
  const auto found = (*books)->load();
  ASSERT_TRUE(found) << found.error().context;
  const auto begin = node::beginning_of(*found, true);
  EXPECT_GE(begin.rounds, 5u);
  EXPECT_LE(begin.rounds, 6u);
  EXPECT_EQ(begin.updates, 24u);
  EXPECT_EQ(node::merged_in(*found), found->lines.at({1}).merged);
  EXPECT_EQ(begin.lines.at({1}).head, version{6});
}

} // namespace troupe::test::counted_rounds_test
