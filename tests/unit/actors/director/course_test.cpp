#include <set>

#include "tests/unit/actors/director/course_fixture.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;

TEST(course, invites_nobody_before_all_are_here_and_saved) {
  run_of run{rounds_of(2)};
  run.join(2);
  EXPECT_TRUE(run.all<invitation_made>().empty());
  run.join(3);
  EXPECT_EQ(run.all<invitation_made>().size(), 2u);
}

TEST(course, announces_a_cohort_only_when_it_is_stored) {
  run_of run{rounds_of(2)};
  run.join(2);
  run.saves_succeed = false;
  run.join(3);
  // First the third client's numbers and the indices, then the round.
  for (int i = 0; i < 3 && !run.all<save_requested>().back().round; ++i) {
    EXPECT_TRUE(run.all<invitation_made>().empty());
    const auto last = run.all<save_requested>().back();
    run.did(run.testee.saved(last.token, run.now));
  }
  const auto last = run.all<save_requested>().back();
  ASSERT_TRUE(last.round);
  EXPECT_EQ(last.round->cohort.size(), 2u);
  EXPECT_TRUE(run.all<invitation_made>().empty());
  run.did(run.testee.saved(last.token, run.now));
  EXPECT_EQ(run.all<invitation_made>().size(), 2u);
}

TEST(course, closes_a_round_at_n_offers_and_once) {
  run_of run{rounds_of(2)};
  run.join(3);
  const auto cohort = run.all<invitation_made>();
  ASSERT_EQ(cohort.size(), 2u);
  run.take(cohort[0].pass.visit);
  EXPECT_TRUE(run.all<round_closed>().empty());
  run.saves_succeed = false;
  run.take(cohort[1].pass.visit);
  const auto closing = run.all<save_requested>().back();
  ASSERT_TRUE(closing.round && closing.round->closed);
  run.did(run.testee.due(run.now + 20s));
  run.saves_succeed = true;
  run.did(run.testee.saved(closing.token, run.now));
  run.did(run.testee.due(run.now + 20s));
  run.take(cohort[1].pass.visit);
  ASSERT_EQ(run.all<round_closed>().size(), 1u);
  auto wanted = std::vector{cohort[0].pass.visit, cohort[1].pass.visit};
  std::ranges::sort(wanted);
  EXPECT_EQ(visits_of(run.all<round_closed>()[0]), wanted);
}

TEST(course, counts_a_visit_only_when_all_its_lines_have_it) {
  run_of run{rounds_of(1)};
  run.join(3);
  const auto visit = run.all<invitation_made>().at(0).pass.visit;
  for (int i = 0; i < 2; ++i)
    run.did(run.testee.taken({.visit = visit, .line = lead, .lines_total = 2},
                             run.now));
  EXPECT_TRUE(run.all<round_closed>().empty());
  run.take(visit);
  EXPECT_EQ(run.all<round_closed>().size(), 1u);
}

TEST(course, gives_a_round_up_that_cannot_reach_its_quorum) {
  run_of run{rounds_of(2)};
  run.join(3);
  run.take(run.all<invitation_made>().at(0).pass.visit);
  run.did(run.testee.due(run.now + 11s));
  ASSERT_EQ(run.all<round_closed>().size(), 1u);
  EXPECT_TRUE(run.all<round_closed>()[0].visits.empty());
  EXPECT_EQ(run.all<messages::visit_withdrawn>().size(), 1u);
}

// Who learns alone, or has nothing to say, has done its part of the round.
TEST(course, counts_a_visit_that_ended_well_without_an_offer) {
  run_of run{rounds_of(2)};
  run.join(3);
  const auto invited = run.all<invitation_made>();
  ASSERT_EQ(invited.size(), 2u);
  const auto ends = [&](std::size_t i, messages::decline_reason why) {
    run.did(run.testee.failed({invited[i].pass.visit, why}, run.now));
  };
  ends(0, messages::decline_reason::no_offer);
  EXPECT_TRUE(run.all<round_closed>().empty());
  run.take(invited[1].pass.visit);
  ASSERT_EQ(run.all<round_closed>().size(), 1u);
  EXPECT_EQ(visits_of(run.all<round_closed>()[0]),
            std::vector{invited[1].pass.visit});
  EXPECT_TRUE(run.all<messages::visit_withdrawn>().empty());
}

TEST(course, counts_a_visit_that_ended_well_where_nothing_is_offered) {
  auto options = rounds_of(2);
  options.offers = false;
  options.budget.rounds = 1;
  run_of run{options};
  run.join(3);
  for (const auto& x : run.all<invitation_made>())
    run.did(run.testee.failed(
      {x.pass.visit, messages::decline_reason::no_offer}, run.now));
  ASSERT_EQ(run.all<round_closed>().size(), 1u);
  for (const auto line : {lead, other})
    run.did(run.testee.merged({line, {1}, {}}, run.now));
  EXPECT_EQ(run.all<messages::line_closing>().size(), 1u)
    << "one was asked for";
}

TEST(course, closes_a_round_without_a_visit_that_was_dropped) {
  run_of run{rounds_of(2)};
  run.join(3);
  const auto invited = run.all<invitation_made>();
  run.did(run.testee.failed(
    {invited[0].pass.visit, messages::decline_reason::dropped}, run.now));
  EXPECT_TRUE(run.all<round_closed>().empty());
  run.take(invited[1].pass.visit);
  ASSERT_EQ(run.all<round_closed>().size(), 1u);
  EXPECT_EQ(visits_of(run.all<round_closed>()[0]),
            std::vector{invited[1].pass.visit});
  EXPECT_TRUE(run.all<messages::visit_withdrawn>().empty());
}

TEST(course, gives_the_place_of_a_client_that_leaves_to_another) {
  run_of run{slots_of(2)};
  run.join(3);
  const auto first = run.all<invitation_made>().front().pass.visit;
  run.did(run.testee.left({.client = first.client}, run.now));
  EXPECT_TRUE(run.all<messages::visit_withdrawn>().empty())
    << "it is silent, and may be at work";
  EXPECT_EQ(run.testee.visits_open(), 3u) << "its slot is another's";
  run.did(run.testee.left({.client = first.client, .said = true}, run.now));
  EXPECT_EQ(run.all<messages::visit_withdrawn>().front().visit, first);
  EXPECT_EQ(run.testee.visits_open(), 2u);
  EXPECT_EQ(run.all<invitation_made>().size(), 3u);
  const auto seen = run.testee.status(run.now);
  EXPECT_EQ(std::tuple(seen.joins, seen.leaves, seen.losses),
            std::tuple(3u, 0u, 1u))
    << "it went once, in silence";
}

TEST(course, invites_first_who_was_busy_when_it_was_its_turn) {
  auto x = slots_of(2);
  x.selection.how = policies::round_robin_selection{};
  run_of run{x};
  run.join(3);
  const auto last = [&] {
    return run.all<invitation_made>().back().pass.visit;
  };
  const auto first = run.all<invitation_made>()[0].pass.visit;
  ASSERT_EQ(first.client, client_id{1});
  run.take(last()); // Of client 2: it is 3's turn.
  run.take(last()); // Then 1's, who is busy, and so 2's.
  ASSERT_EQ(last().client, client_id{2});
  run.take(first);
  EXPECT_EQ(last().client, client_id{1}) << "its turn is over";
}

TEST(course, counts_who_came_back_without_what_it_had_kept) {
  run_of run{slots_of(1)};
  run.join(3);
  const auto visit = run.all<invitation_made>().front().pass.visit;
  run.take(visit);
  run.did(run.testee.published(
    {.line = lead, .head = {1}, .round = {}, .blocks = {}, .merged = {visit}},
    run.now));
  const auto come_back = [&](visit_number last) {
    run.did(run.testee.joined({visit.client, 10, last}, run.now));
    return run.testee.status(run.now).anew;
  };
  EXPECT_EQ(come_back(visit.number), 0u);
  EXPECT_EQ(come_back(messages::hello::not_said), 0u) << "of an older version";
  EXPECT_EQ(come_back({0}), 1u);
  EXPECT_EQ(come_back({0}), 1u) << "it says hello again";
  EXPECT_EQ(run.all<messages::client_began_anew>().back().client, visit.client);
  EXPECT_EQ(run.testee.status(run.now).joins, 3u) << "it had not left";
}

TEST(course, knows_after_a_restart_whose_visits_are_merged) {
  course::durable found;
  found.clients[{1}] = {.client = {1}, .examples = 10, .numbers_upto = 8};
  found.merged[{1}].insert({5});
  run_of run{slots_of(1), found};
  run.did(run.testee.joined({{1}, 10, {5}}, run.now));
  run.did(run.testee.joined({{2}, 10, {0}}, run.now));
  EXPECT_EQ(run.testee.status(run.now).anew, 0u);
  run.did(run.testee.joined({{1}, 10, {4}}, run.now));
  EXPECT_EQ(run.testee.status(run.now).anew, 1u);
}

struct verdicts_of_one_client : testing::Test {
  verdicts_of_one_client() {
    auto x = slots_of(1);
    x.clients_expected = 1;
    x.state = state_rule::on_accept;
    run.emplace(x);
    run->join(1);
    visit = run->all<invitation_made>().front().pass.visit;
  }

  void taken(line_id line, policies::verdict what) {
    run->did(run->testee.taken(
      {.visit = visit, .line = line, .lines_total = 2, .verdict = what},
      run->now));
  }

  void merged(line_id line) {
    messages::version_published x;
    x.line = line;
    x.head = {1};
    x.merged = {visit};
    run->did(run->testee.published(x, run->now));
  }

  std::size_t invitations() const {
    return run->all<invitation_made>().size();
  }

  std::optional<run_of> run;
  visit_id visit;
};

TEST_F(verdicts_of_one_client, come_from_every_line_before_its_next_visit) {
  taken(lead, policies::verdict::accepted);
  taken(other, policies::verdict::accepted);
  merged(lead);
  EXPECT_EQ(invitations(), 1u);
  merged(lead); // Twice is once.
  EXPECT_EQ(invitations(), 1u);
  merged(other);
  EXPECT_EQ(invitations(), 2u);
}

TEST_F(verdicts_of_one_client, may_come_before_another_line_has_its_part) {
  taken(lead, policies::verdict::accepted);
  merged(lead);
  taken(other, policies::verdict::accepted);
  EXPECT_EQ(invitations(), 1u);
  merged(other);
  EXPECT_EQ(invitations(), 2u);
}

TEST_F(verdicts_of_one_client, may_be_refusals_of_what_was_kept) {
  taken(lead, policies::verdict::accepted);
  taken(other, policies::verdict::accepted);
  merged(lead);
  taken(other, policies::verdict::malformed);
  EXPECT_EQ(invitations(), 2u);
}

TEST(course, begins_the_next_round_when_every_line_has_merged_this_one) {
  run_of run{rounds_of(1)};
  run.join(3);
  run.take(run.all<invitation_made>().at(0).pass.visit);
  for (int i = 0; i < 2; ++i) // A copy says nothing new.
    run.did(run.testee.merged({lead, {1}, {1}}, run.now));
  EXPECT_EQ(run.testee.rounds_closed(), 0u);
  run.did(run.testee.merged({other, {1}, {1}}, run.now));
  EXPECT_EQ(run.testee.rounds_closed(), 1u);
  EXPECT_EQ(run.all<invitation_made>().back().pass.round, round_number{2});
}

TEST(course, announces_a_closed_list_again_after_a_restart) {
  course::durable found;
  found.clients[{1}] = {.client = {1}, .examples = 10, .numbers_upto = 32};
  found.index_upto = 4096;
  found.round = {
    .round = {3}, .closed = 1, .visits = {{{{1}, {7}}, {lead, other}}}};
  run_of run{rounds_of(1), found};
  run.did(run.testee.due(run.now));
  ASSERT_EQ(run.all<round_closed>().size(), 1u);
  EXPECT_EQ(run.all<round_closed>()[0].round, round_number{3});
  EXPECT_EQ(visits_of(run.all<round_closed>()[0]),
            (std::vector<visit_id>{{{1}, {7}}}));
}

TEST(course, strikes_out_what_does_not_come_again_after_a_restart) {
  const visit_id here{{1}, {7}}, gone{{2}, {4}}, half{{3}, {5}};
  course::durable found;
  found.index_upto = 4096;
  found.round = {
    .round = {3},
    .closed = 1,
    .visits = {{here, {lead, other}}, {gone, {other}}, {half, {lead, other}}}};
  for (std::uint64_t i = 1; i <= 3; ++i)
    found.clients[{i}] = {.client = {i}, .examples = 10, .numbers_upto = 32};
  run_of run{rounds_of(3), found};
  run.did(run.testee.due(run.now));
  run.did(run.testee.lacking({other, {3}, {here, gone, half}}, run.now));
  run.take(here);
  run.did(
    run.testee.taken({half, other, 2, policies::verdict::overloaded}, run.now));
  run.did(run.testee.merged({lead, {3}, {9}}, run.now)); // Before the crash.
  ASSERT_EQ(run.testee.next_due(), run.now + 10s);

  run.now += 10s;
  run.saves_succeed = false;
  run.did(run.testee.due(run.now));
  EXPECT_EQ(run.all<round_closed>().size(), 1u) << "announced and not saved";
  run.did(run.testee.saved(run.all<save_requested>().back().token, run.now));
  ASSERT_EQ(run.all<round_closed>().size(), 2u);
  const auto list = run.all<round_closed>()[1];
  EXPECT_EQ(visits_of(list), (std::vector<visit_id>{here, half}));
  EXPECT_EQ(list.visits[0].lines, (std::vector<line_id>{lead, other}));
  EXPECT_EQ(list.visits[1].lines, (std::vector<line_id>{lead}));
  EXPECT_TRUE(list.again);
  for (const auto line : {lead, other})
    run.did(run.testee.merged({line, {3}, {9}}, run.now));
  EXPECT_EQ(run.testee.rounds_closed(), 3u);
  EXPECT_EQ(run.testee.next_due(), std::nullopt);
}

TEST(course, invites_an_open_cohort_again_after_a_restart) {
  course::durable found;
  found.clients[{1}] = {.client = {1}, .examples = 10, .numbers_upto = 32};
  found.index_upto = 4096;
  const messages::ticket pass{
    .visit = {{1}, {7}}, .round = {3}, .expires_ns = instant{1h}.count()};
  found.round = {.round = {3}, .cohort = {pass}};
  run_of run{rounds_of(1), found};
  run.join(1);
  ASSERT_FALSE(run.all<invitation_made>().empty());
  for (const auto& x : run.all<invitation_made>())
    EXPECT_EQ(x.pass, pass);
}

TEST(course, gives_no_number_twice_over_restarts) {
  std::set<visit_id> given;
  std::set<std::uint64_t> indices;
  course::durable found;
  std::size_t count = 0;
  for (int life = 0; life < 4; ++life) {
    run_of run{slots_of(2), found};
    run.join(3);
    for (std::size_t i = 0; i < run.all<invitation_made>().size() && i < 200;
         ++i)
      run.take(run.all<invitation_made>()[i].pass.visit);
    EXPECT_GE(run.all<invitation_made>().size(), 200u);
    for (const auto& x : run.all<invitation_made>()) {
      given.insert(x.pass.visit);
      indices.insert(x.pass.index);
      ++count;
    }
    for (const auto& save : run.all<save_requested>()) {
      for (const auto& record : save.clients)
        found.clients[record.client] = record;
      found.index_upto = save.index_upto;
    }
  }
  EXPECT_EQ(given.size(), count);
  EXPECT_EQ(indices.size(), count);
}

TEST(course, spends_a_budget_of_updates_once_per_visit_not_per_line) {
  auto options = slots_of(1);
  options.budget.updates = 2;
  run_of run{options};
  run.join(3);
  for (std::uint64_t client = 1; client <= 2; ++client) {
    EXPECT_TRUE(run.all<messages::line_closing>().empty());
    for (const auto line : {lead, other}) {
      messages::version_published x;
      x.line = line;
      x.head = {client};
      x.merged = {{{client}, {1}}};
      run.did(run.testee.published(x, run.now));
    }
  }
  EXPECT_EQ(run.all<messages::line_closing>().size(), 1u);
}

} // namespace troupe::actors
