#include <set>

#include "tests/unit/actors/director/course_fixture.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;

namespace {

/// As the gateway says it of one whose key was taken: it leaves, and what it
/// has offered is withdrawn.
void deny(run_of& run, visit_id offered) {
  run.did(run.testee.left({.client = offered.client, .said = true}, run.now));
  run.did(run.testee.failed({offered, policies::verdict::withdrawn}, run.now));
}

std::set<visit_id> dropped(const run_of& run) {
  std::set<visit_id> out;
  for (const auto& x : run.all<messages::visit_dropped>())
    out.insert(x.visit);
  return out;
}

} // namespace

TEST(denied_clients, lose_their_visits_and_what_waits_for_a_merge) {
  run_of run{slots_of(2)};
  run.join(3);
  const auto first = run.all<invitation_made>().front().pass.visit;
  run.take(first); // It waits, and another visit may be open.
  const auto open = run.all<invitation_made>().back().pass.visit;
  ASSERT_NE(open, first);
  deny(run, first);
  EXPECT_EQ(dropped(run), std::set{first});
  run.did(run.testee.left({.client = open.client, .said = true}, run.now));
  EXPECT_EQ(run.all<messages::visit_withdrawn>().back().visit, open);
  EXPECT_EQ(dropped(run), std::set{first}) << "no line has any of it";
  const auto invited = run.all<invitation_made>().size();
  run.did(run.testee.due(run.now + 1h));
  for (std::size_t i = invited; i < run.all<invitation_made>().size(); ++i)
    EXPECT_FALSE(std::set({first.client, open.client})
                   .contains(run.all<invitation_made>()[i].pass.visit.client));
}

// Its line says that it has it when its key is taken, or after a restart.
TEST(denied_clients, lose_what_was_on_its_way_to_its_line) {
  auto windows = slots_of(2);
  windows.mode = pace_kind::semisync;
  windows.window = 1h;
  for (const auto& options : {slots_of(2), windows}) {
    run_of run{options};
    run.join(3);
    const auto visit = run.all<invitation_made>().front().pass.visit;
    deny(run, visit);
    EXPECT_TRUE(dropped(run).empty());
    run.take(visit);
    EXPECT_EQ(dropped(run), std::set{visit});
    EXPECT_TRUE(run.all<round_closed>().empty());
    const visit_id before{{77}, {4}};
    deny(run, before);
    run.take(before);
    EXPECT_EQ(dropped(run), (std::set{visit, before}));
  }
}

TEST(denied_clients, lose_parts_of_a_visit_that_is_not_whole) {
  run_of run{slots_of(2)};
  run.join(3);
  const auto visit = run.all<invitation_made>().front().pass.visit;
  run.did(run.testee.taken({.visit = visit, .line = lead, .lines_total = 2},
                           run.now));
  deny(run, visit);
  EXPECT_EQ(dropped(run), std::set{visit});
}

TEST(denied_clients, are_on_no_list_that_is_made_later) {
  run_of run{rounds_of(2)};
  run.join(3);
  const auto cohort = run.all<invitation_made>();
  ASSERT_EQ(cohort.size(), 2u);
  run.take(cohort[0].pass.visit);
  deny(run, cohort[0].pass.visit);
  EXPECT_EQ(dropped(run), std::set{cohort[0].pass.visit});
  run.take(cohort[1].pass.visit);
  ASSERT_EQ(run.all<round_closed>().size(), 1u);
  EXPECT_EQ(visits_of(run.all<round_closed>()[0]),
            std::vector{cohort[1].pass.visit});
}

TEST(denied_clients, do_not_hold_up_a_round_that_has_no_deadline) {
  auto rounds = rounds_of(3);
  rounds.round_deadline = std::chrono::hours{24 * 365};
  run_of run{rounds};
  run.join(4);
  const auto cohort = run.all<invitation_made>();
  ASSERT_EQ(cohort.size(), 3u);
  run.take(cohort[0].pass.visit);
  run.take(cohort[2].pass.visit);
  ASSERT_TRUE(run.all<round_closed>().empty());
  deny(run, cohort[1].pass.visit);
  ASSERT_EQ(run.all<round_closed>().size(), 1u);
  std::vector wanted{cohort[0].pass.visit, cohort[2].pass.visit};
  std::ranges::sort(wanted);
  EXPECT_EQ(visits_of(run.all<round_closed>()[0]), wanted);
}

// The server began again, and its line waits for what they may say no more.
TEST(denied_clients, are_struck_off_a_list_at_once) {
  const visit_id denied{{1}, {4}}, other_one{{2}, {4}};
  course::durable found;
  found.index_upto = 4096;
  for (std::uint64_t i = 1; i <= 3; ++i)
    found.clients[{i}] = {.client = {i}, .examples = 10, .numbers_upto = 32};
  found.round = {.round = {3}, .closed = 1};
  found.round.visits.push_back({denied, {lead}});
  found.round.visits.push_back({other_one, {lead}});
  run_of run{rounds_of(2), found};
  run.did(run.testee.due(run.now));
  run.did(run.testee.lacking({lead, {3}, {denied, other_one}}, run.now));
  ASSERT_EQ(run.all<round_closed>().size(), 1u);
  deny(run, denied); // It has not come yet.
  ASSERT_EQ(run.all<round_closed>().size(), 2u);
  EXPECT_EQ(visits_of(run.all<round_closed>()[1]), std::vector{other_one});
}

// It is durable, and lines wait for all that is on it.
TEST(denied_clients, stay_on_a_list_that_is_made) {
  run_of run{rounds_of(2)};
  run.join(3);
  const auto cohort = run.all<invitation_made>();
  for (const auto& x : cohort)
    run.take(x.pass.visit);
  ASSERT_EQ(run.all<round_closed>().size(), 1u);
  deny(run, cohort[0].pass.visit);
  EXPECT_TRUE(dropped(run).empty());
}

// As when it had expired: else it would be asked at once, and show it again.
TEST(tickets_without_a_key, end_their_visits) {
  for (const bool strangers : {false, true}) {
    auto options = slots_of(1);
    options.decline_pause = 1s;
    options.strangers = strangers;
    options.clients_expected = 1;
    run_of run{options};
    run.join(1);
    const auto wait_half = [&] {
      run.now += 500ms;
      run.did(run.testee.due(run.now));
    };
    const auto visit = run.all<invitation_made>().back().pass.visit;
    const auto before = run.all<invitation_made>().size();
    run.did(
      run.testee.failed({visit, policies::verdict::not_invited}, run.now));
    ASSERT_EQ(run.all<messages::visit_withdrawn>().size(), 1u);
    EXPECT_EQ(run.all<messages::visit_withdrawn>()[0].visit, visit);
    wait_half();
    EXPECT_EQ(run.all<invitation_made>().size(), before);
    wait_half();
    EXPECT_EQ(run.all<invitation_made>().size(), before + 1);
    EXPECT_TRUE(run.all<messages::client_failed>().empty());
    // What nobody waits for is nobody's to withdraw.
    run.did(
      run.testee.failed({visit, policies::verdict::not_invited}, run.now));
    EXPECT_EQ(run.all<messages::visit_withdrawn>().size(), 1u);
  }
}

} // namespace troupe::actors
