#include "tests/unit/actors/director/course_fixture.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;

/// Windows of ten seconds, and one visit whose client left after one of its two
/// lines had kept its part.
struct loose_visits : testing::Test {
  loose_visits() {
    auto x = slots_of(2);
    x.mode = pace_kind::semisync;
    x.window = 10s;
    run.emplace(x);
    run->join(3);
    visit = run->all<invitation_made>().front().pass.visit;
    taken(lead, policies::verdict::accepted);
    run->did(
      run->testee.left({.client = visit.client, .said = true}, run->now));
  }

  void taken(line_id line, policies::verdict what) {
    run->did(run->testee.taken(
      {.visit = visit, .line = line, .lines_total = 2, .verdict = what},
      run->now));
  }

  void pass(instant time) {
    run->now += time;
    run->did(run->testee.due(run->now));
  }

  std::size_t dropped() const {
    return run->all<messages::visit_dropped>().size();
  }

  std::optional<run_of> run;
  visit_id visit;
};

TEST_F(loose_visits, count_when_they_become_whole_in_time) {
  pass(9s);
  taken(other, policies::verdict::accepted);
  pass(10s);
  ASSERT_EQ(run->all<round_closed>().size(), 1u);
  EXPECT_EQ(visits_of(run->all<round_closed>()[0]), std::vector{visit});
  taken(lead, policies::verdict::accepted); // A resend.
  pass(1min);
  EXPECT_EQ(dropped(), 0u);
}

TEST_F(loose_visits, are_dropped_after_two_windows) {
  taken(other, policies::verdict::overloaded);
  pass(19s);
  EXPECT_EQ(dropped(), 0u);
  pass(1s);
  ASSERT_EQ(dropped(), 1u);
  EXPECT_EQ(run->all<messages::visit_dropped>()[0].visit, visit);
  taken(lead, policies::verdict::withdrawn); // As the line says then.
  pass(1min);
  EXPECT_EQ(dropped(), 1u);
  EXPECT_TRUE(run->all<round_closed>().empty());
}

/// A list names it, no line has it, and it is struck off.
struct struck_visits : loose_visits {
  struck_visits() {
    taken(other, policies::verdict::accepted);
    pass(10s);
    for (const auto line : {lead, other})
      run->did(run->testee.lacking({line, {1}, {visit}}, run->now));
    EXPECT_EQ(run->all<round_closed>().size(), 3u);
    EXPECT_TRUE(run->all<round_closed>().back().visits.empty());
  }

  void published(line_id line) {
    run->did(run->testee.published({.line = line,
                                    .head = {1},
                                    .round = {1},
                                    .blocks = {},
                                    .merged = {visit}},
                                   run->now));
  }

  void end_round() {
    for (const auto line : {lead, other})
      run->did(run->testee.merged({line, {1}, {1}}, run->now));
  }
};

// The next window would have nothing but what is merged.
TEST_F(struck_visits, are_on_no_other_list_once_they_are_merged) {
  for (const auto line : {lead, other})
    taken(line, policies::verdict::accepted);
  for (const auto line : {lead, other})
    published(line);
  end_round();
  pass(1min);
  EXPECT_EQ(run->all<round_closed>().size(), 3u);
}

TEST_F(struck_visits, are_listed_for_lines_that_have_not_merged_them) {
  taken(lead, policies::verdict::accepted);
  published(lead);
  taken(other, policies::verdict::accepted);
  end_round();
  pass(10s);
  ASSERT_EQ(run->all<round_closed>().size(), 4u);
  const auto list = run->all<round_closed>().back().visits;
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list.front().lines, std::vector{other});
}

TEST_F(loose_visits, are_known_again_after_a_restart) {
  auto x = slots_of(2);
  x.mode = pace_kind::semisync;
  x.window = 10s;
  run.emplace(x);
  run->join(3);
  visit = {{1}, {77}};
  for (const auto line : {lead, other})
    taken(line, policies::verdict::accepted);
  pass(10s);
  ASSERT_EQ(run->all<round_closed>().size(), 1u);
  EXPECT_EQ(visits_of(run->all<round_closed>()[0]), std::vector{visit});
}

} // namespace troupe::actors
