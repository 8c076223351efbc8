// Clients that fall silent in the middle of a visit: who is alive does not wait
// for them.

#include "tests/unit/actors/director/course_fixture.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;

namespace {

std::vector<client_id> invited_by(const run_of& run) {
  std::vector<client_id> all;
  for (const auto& x : run.all<invitation_made>())
    all.push_back(x.pass.visit.client);
  return all;
}

void lose(run_of& run, client_id x) {
  run.did(run.testee.left({.client = x}, run.now));
}

using states = std::vector<std::uint64_t>;

/// At work, lost, free, waiting, away: as metrics say them.
states states_of(const run_of& run) {
  const auto x = run.testee.status(run.now);
  return {x.at_work, x.visits_lost, x.free, x.waiting(), x.away()};
}

} // namespace

TEST(lost_clients, free_their_slots_at_once_and_keep_their_tickets) {
  run_of run{slots_of(2)};
  run.join(5);
  ASSERT_EQ(invited_by(run).size(), 2u);
  const auto dead = run.all<invitation_made>().front().pass.visit;
  lose(run, dead.client);
  EXPECT_EQ(invited_by(run).size(), 3u); // Somebody else, now.
  EXPECT_NE(invited_by(run).back(), dead.client);
  const auto status = run.testee.status(run.now);
  EXPECT_EQ(status.visits_open, 3u);
  EXPECT_EQ(status.visits_lost, 1u);
  // It comes back, and there is one more at work than there are slots: nobody
  // is invited until one of them is done.
  run.did(run.testee.joined({dead.client, 10}, run.now));
  EXPECT_EQ(run.testee.status(run.now).visits_lost, 0u);
  const auto before = invited_by(run).size();
  run.take(run.all<invitation_made>()[1].pass.visit);
  std::size_t others = 0;
  for (auto i = before; i < invited_by(run).size(); ++i)
    others += invited_by(run)[i] != dead.client;
  EXPECT_EQ(others, 0u); // It was told once more, and nobody else is invited.
  // Its offer counts.
  run.take(dead);
  EXPECT_GT(invited_by(run).size(), before);
}

// Whoever adds the states up has all clients, and nobody twice.
TEST(lost_clients, are_in_one_state_as_all_others_are) {
  run_of run{slots_of(2)};
  run.join(5);
  EXPECT_EQ(states_of(run), (states{2, 0, 3, 0, 0}));
  const auto dead = invited_by(run).front();
  lose(run, dead);
  EXPECT_EQ(states_of(run), (states{2, 1, 2, 0, 0}));
  for (std::uint64_t i = 1; i <= 5; ++i)
    if (std::ranges::count(invited_by(run), client_id{i}) == 0) {
      lose(run, {i}); // At rest.
      break;
    }
  EXPECT_EQ(states_of(run), (states{2, 1, 1, 0, 1}));
  // It is left alone for a second, and the last one is invited.
  const auto fails = run.all<invitation_made>()[1].pass.visit;
  run.did(
    run.testee.failed({fails, messages::decline_reason::failed}, run.now));
  EXPECT_EQ(states_of(run), (states{2, 1, 0, 1, 1}));
  run.did(run.testee.joined({dead, 10}, run.now));
  EXPECT_EQ(states_of(run), (states{3, 0, 0, 1, 1}));
  run.did(run.testee.left({.client = dead, .said = true}, run.now));
  EXPECT_EQ(states_of(run), (states{2, 0, 0, 1, 2}));
  run.did(run.testee.finish({"enough"}, run.now));
  EXPECT_EQ(states_of(run), (states{0, 0, 0, 3, 2}));
}

TEST(lost_clients, are_not_at_work_where_a_restart_waits_for_them) {
  course::durable found;
  found.index_upto = 40;
  found.round.round = {1};
  for (std::uint64_t i = 1; i <= 3; ++i) {
    found.clients[{i}] = {.client = {i}, .examples = 10, .numbers_upto = 32};
    messages::ticket pass;
    pass.visit = {{i}, {7}};
    pass.expires_ns = instant{1h}.count();
    found.round.cohort.push_back(pass);
  }
  run_of run{rounds_of(3), found};
  EXPECT_EQ(states_of(run), (states{0, 0, 0, 0, 3}));
  EXPECT_EQ(run.testee.status(run.now).visits_open, 3u);
  run.did(run.testee.joined({{2}, 10}, run.now));
  EXPECT_EQ(states_of(run), (states{1, 0, 0, 0, 2}));
  lose(run, {2});
  EXPECT_EQ(states_of(run), (states{0, 1, 0, 0, 2}));
}

TEST(lost_clients, are_not_those_who_say_hello_over_another_connection) {
  run_of run{slots_of(2)};
  run.join(3);
  for (std::uint64_t i = 1; i <= 3; ++i)
    run.did(run.testee.joined({{i}, 10}, run.now));
  auto status = run.testee.status(run.now);
  EXPECT_EQ(status.joins, 3u);
  EXPECT_EQ(status.leaves, 0u);
  EXPECT_EQ(status.losses, 0u);
  EXPECT_EQ(status.visits_open, 2u);
  EXPECT_EQ(status.visits_lost, 0u);
  lose(run, {1});
  status = run.testee.status(run.now);
  EXPECT_EQ(status.losses, 1u);
  EXPECT_EQ(status.leaves, 0u);
}

TEST(lost_clients, are_not_invited_again_before_their_visit_is_over) {
  run_of run{slots_of(1)};
  run.join(3);
  const auto dead = run.all<invitation_made>().front().pass.visit;
  lose(run, dead.client);
  for (int i = 0; i < 12; ++i)
    run.take(run.all<invitation_made>().back().pass.visit);
  EXPECT_EQ(std::ranges::count(invited_by(run), dead.client), 1);
  // When its ticket is worth nothing any more, it is nobody's slot.
  run.now += 25h;
  run.did(run.testee.due(run.now));
  EXPECT_EQ(run.testee.status(run.now).visits_lost, 0u);
}

// It, or what came of it, may be lost: an hour would be long to wait.
TEST(lost_clients, hear_an_invitation_again_soon_and_then_twice_as_late) {
  auto slots = slots_of(1);
  slots.invitation_retry = 60s;
  run_of run{slots};
  run.join(3);
  const auto began = run.now;
  std::vector<instant> said;
  for (int i = 0; i < 250; ++i) {
    const auto before = run.all<invitation_made>().size();
    run.now += 1s;
    run.did(run.testee.due(run.now));
    if (run.all<invitation_made>().size() > before)
      said.push_back(run.now - began);
  }
  EXPECT_EQ(said, (std::vector<instant>{10s, 30s, 70s, 130s, 190s, 250s}));
}

TEST(lost_clients, are_nobody_when_the_run_ends) {
  run_of run{slots_of(2)};
  run.join(3);
  lose(run, run.all<invitation_made>().front().pass.visit.client);
  run.did(run.testee.finish({"enough"}, run.now));
  const auto status = run.testee.status(run.now);
  EXPECT_EQ(status.visits_open, 0u);
  EXPECT_EQ(status.visits_lost, 0u);
}

// Ten of a hundred die while they hold all slots there are.
TEST(lost_clients, do_not_keep_the_others_from_being_invited) {
  run_of run{slots_of(10)};
  run.join(100);
  ASSERT_EQ(invited_by(run).size(), 10u);
  const auto dead = invited_by(run);
  for (const auto x : dead)
    lose(run, x);
  EXPECT_EQ(invited_by(run).size(), 20u);
  for (const auto x : dead)
    EXPECT_EQ(std::ranges::count(invited_by(run), x), 1);
}

TEST(lost_clients, do_not_hold_up_a_round_that_has_no_deadline) {
  auto rounds = rounds_of(3);
  rounds.round_deadline = std::chrono::hours{24 * 365};
  run_of run{rounds};
  run.join(4);
  const auto cohort = run.all<invitation_made>();
  ASSERT_EQ(cohort.size(), 3u);
  run.take(cohort[0].pass.visit);
  lose(run, cohort[1].pass.visit.client);
  run.take(cohort[2].pass.visit);
  ASSERT_EQ(run.all<round_closed>().size(), 1u);
  EXPECT_EQ(run.all<round_closed>()[0].visits.size(), 2u);
}

} // namespace troupe::actors
