// Visits that are given up while lines may hold parts of them: what was offered
// the lines answer, and nobody else.

#include "tests/unit/actors/director/course_fixture.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;
using messages::visit_dropped;
using messages::visit_withdrawn;

namespace {

void keep_in_one(run_of& run, visit_id x) {
  run.did(
    run.testee.taken({.visit = x, .line = lead, .lines_total = 2}, run.now));
}

} // namespace

TEST(visit_expiry, has_lines_drop_what_they_hold_in_every_pace) {
  for (const auto mode : {pace_kind::sync, pace_kind::semisync,
                          pace_kind::fedbuff, pace_kind::fedasync}) {
    auto x = mode == pace_kind::sync ? rounds_of(2) : slots_of(2);
    x.mode = mode;
    x.window = x.round_deadline = 24h;
    x.visit_timeout = 60s;
    run_of run{x};
    run.join(3);
    const auto open = run.all<invitation_made>();
    ASSERT_EQ(open.size(), 2u);
    keep_in_one(run, open[0].pass.visit);
    run.now += 61s;
    run.did(run.testee.due(run.now));
    ASSERT_EQ(run.all<visit_dropped>().size(), 1u);
    EXPECT_EQ(run.all<visit_dropped>()[0].visit, open[0].pass.visit);
    ASSERT_EQ(run.all<visit_withdrawn>().size(), 1u);
    EXPECT_EQ(run.all<visit_withdrawn>()[0].visit, open[1].pass.visit);
  }
}

// It beats and does nothing: others are asked before it is again.
TEST(visit_expiry, makes_who_came_to_nothing_wait_longer_each_time) {
  auto x = slots_of(1);
  x.clients_expected = 1;
  x.strangers = true;
  x.visit_timeout = 60s;
  run_of run{x};
  run.join(1);
  for (const auto pause : {1s, 2s, 4s}) {
    const auto invited = run.all<invitation_made>().size();
    run.now += 60s;
    run.did(run.testee.due(run.now));
    EXPECT_EQ(run.all<invitation_made>().size(), invited);
    run.now += pause;
    run.did(run.testee.due(run.now));
    EXPECT_EQ(run.all<invitation_made>().size(), invited + 1);
  }
}

TEST(visit_expiry, at_the_end_of_a_run_says_nothing_of_what_lines_hold) {
  run_of run{slots_of(2)};
  run.join(3);
  const auto open = run.all<invitation_made>();
  keep_in_one(run, open[0].pass.visit);
  run.did(run.testee.finish({"enough"}, run.now));
  ASSERT_EQ(run.all<visit_withdrawn>().size(), 1u);
  EXPECT_EQ(run.all<visit_withdrawn>()[0].visit, open[1].pass.visit);
}

TEST(visit_expiry, of_a_round_is_told_when_its_list_is_durable) {
  auto x = rounds_of(3);
  x.quorum = 1;
  run_of run{x};
  run.join(3);
  const auto open = run.all<invitation_made>();
  ASSERT_EQ(open.size(), 3u);
  run.take(open[0].pass.visit);
  keep_in_one(run, open[1].pass.visit);
  run.saves_succeed = false;
  run.now += 10s;
  run.did(run.testee.due(run.now));
  EXPECT_TRUE(run.all<visit_withdrawn>().empty());
  run.did(run.testee.saved(run.all<save_requested>().back().token, run.now));
  ASSERT_EQ(run.all<visit_withdrawn>().size(), 1u);
  EXPECT_EQ(run.all<visit_withdrawn>()[0].visit, open[2].pass.visit);
  EXPECT_EQ(visits_of(run.all<round_closed>()[0]),
            std::vector{open[0].pass.visit});
}

} // namespace troupe::actors
