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
