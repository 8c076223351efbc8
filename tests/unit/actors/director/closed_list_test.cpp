// A list that was closed before a restart: which of its parts are not waited
// for, and whether its round counts.

#include <utility>

#include "tests/unit/actors/director/course_fixture.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;
using policies::verdict;

namespace {

/// The third round, closed: each of three clients had offered its visit 7.
course::durable closed() {
  course::durable x;
  x.index_upto = 4096;
  x.round = {.round = {3}, .closed = 1};
  for (std::uint64_t i = 1; i <= 3; ++i) {
    x.clients[{i}] = {.client = {i}, .examples = 10, .numbers_upto = 32};
    x.round.visits.push_back({{{i}, {7}}, {lead, other}});
  }
  return x;
}

/// Its lines have nothing of it any more, and it has no deadline.
struct lost_round : run_of {
  explicit lost_round(course::options x, course::durable found = closed())
    : run_of(x, std::move(found)) {
    did(testee.due(now));
    say_lacking();
  }

  lost_round() : lost_round(patient()) {
    // nop
  }

  static course::options patient() {
    auto x = rounds_of(3);
    x.round_deadline = std::chrono::hours{24 * 365};
    x.silence_max = 90s;
    return x;
  }

  void say_lacking() {
    const auto list = last();
    for (const auto line : {lead, other})
      did(testee.lacking({line, {3}, list}, now));
  }

  void say_hello(client_id x, visit_number newest) {
    did(testee.joined({.client = x, .examples = 10, .last = newest}, now));
  }

  void say_hello_all() {
    for (std::uint64_t i = 1; i <= 3; ++i)
      say_hello({i}, {7});
  }

  void refuse(visit_id x, line_id of, verdict why) {
    did(testee.taken({.visit = x, .line = of, .lines_total = 2, .verdict = why},
                     now));
  }

  void wait(instant x) {
    now += x;
    did(testee.due(now));
  }

  void merge() {
    for (const auto line : {lead, other})
      did(testee.merged({line, {3}, {9}}, now));
  }

  std::size_t lists() const {
    return all<round_closed>().size();
  }

  std::vector<visit_id> last() const {
    return visits_of(all<round_closed>().back());
  }

  /// Where the list, as it was said last, waits for the visit.
  std::vector<line_id> lines_of(visit_id x) const {
    const auto said = all<round_closed>();
    for (const auto& visit : said.back().visits)
      if (visit.visit == x)
        return visit.lines;
    return {};
  }
};

visit_id seventh(std::uint64_t client) {
  return {{client}, {7}};
}

} // namespace

TEST(course_restart, strikes_out_at_once_what_clients_have_forgotten) {
  lost_round run;
  run.say_hello({1}, {7}); // It has kept its offer, and says it again.
  EXPECT_EQ(run.all<round_closed>().size(), 1u);
  run.say_hello({2}, {});
  run.say_hello({3}, {6});
  ASSERT_EQ(run.all<round_closed>().size(), 3u);
  EXPECT_EQ(run.last(), std::vector{seventh(1)});
  EXPECT_EQ(run.all<save_requested>().back().round->visits.size(), 1u);
  EXPECT_EQ(run.all<messages::client_began_anew>().size(), 2u);
  run.say_lacking();
  run.say_hello({3}, {6});
  EXPECT_EQ(run.all<round_closed>().size(), 3u);
  EXPECT_EQ(run.all<messages::client_began_anew>().size(), 2u);
  run.take(seventh(1));
  for (const auto line : {lead, other})
    run.did(run.testee.merged({line, {3}, {9}}, run.now));
  EXPECT_EQ(run.testee.rounds_closed(), 3u);
}

// What a line found on its disk it has not lost.
TEST(course_restart, strikes_out_nothing_that_a_line_has) {
  run_of run{lost_round::patient(), closed()};
  run.did(
    run.testee.joined({.client = {2}, .examples = 10, .last = {}}, run.now));
  run.did(run.testee.due(run.now));
  ASSERT_EQ(run.all<round_closed>().size(), 1u);
  run.did(run.testee.lacking({lead, {3}, {seventh(2)}}, run.now));
  ASSERT_EQ(run.all<round_closed>().size(), 2u);
  const auto visits = run.all<round_closed>()[1].visits;
  ASSERT_EQ(visits.size(), 3u);
  EXPECT_EQ(visits[1].lines, std::vector{other});
}

TEST(course_restart, waits_no_longer_than_its_silence_for_who_does_not_come) {
  lost_round run;
  run.say_hello({1}, {7});
  EXPECT_EQ(run.testee.next_due(), run.now + 90s);
  run.now += 90s;
  run.did(run.testee.due(run.now));
  EXPECT_EQ(run.last(), std::vector{seventh(1)}) << "who is here is waited for";
  run.say_lacking();
  run.did(run.testee.left({.client = {1}}, run.now));
  EXPECT_TRUE(run.last().empty());
  for (const auto line : {lead, other})
    run.did(run.testee.merged({line, {3}, {9}}, run.now));
  EXPECT_EQ(run.testee.rounds_closed(), 3u);
  EXPECT_TRUE(run.all<messages::round_counted>().empty());
}

TEST(course_restart, waits_for_who_may_come_where_nobody_is_ever_lost) {
  auto x = lost_round::patient();
  x.silence_max = {};
  lost_round run{x};
  run.now += 23h;
  run.did(run.testee.due(run.now));
  EXPECT_EQ(run.all<round_closed>().size(), 1u);
}

// It waits again and is answered like any other offer: its client lets go of
// it.
TEST(course_restart, strikes_out_at_once_what_a_line_refuses) {
  for (const auto why :
       {verdict::withdrawn, verdict::too_stale, verdict::malformed}) {
    lost_round run;
    run.say_hello_all();
    run.refuse(seventh(2), lead, verdict::overloaded); // It comes again.
    EXPECT_EQ(run.lists(), 1u);
    run.refuse(seventh(2), lead, why);
    ASSERT_EQ(run.lists(), 2u);
    EXPECT_EQ(run.last().size(), 3u);
    EXPECT_EQ(run.lines_of(seventh(2)), std::vector{other});
    EXPECT_TRUE(run.all<round_closed>().back().again);
  }
}

// A line that refuses what it had kept, while the list was on its way to it, is
// not waited for in the same process either.
TEST(course_restart, is_not_what_it_takes_for_a_refused_part_to_be_struck) {
  run_of run{lost_round::patient()};
  run.join(3);
  for (const auto& x : run.all<invitation_made>())
    run.take(x.pass.visit);
  ASSERT_EQ(run.all<round_closed>().size(), 1u);
  const auto listed = run.all<round_closed>().back();
  EXPECT_FALSE(listed.again);
  const auto visit = listed.visits.front().visit;
  run.did(run.testee.taken({.visit = visit,
                            .line = other,
                            .lines_total = 2,
                            .verdict = verdict::too_stale},
                           run.now));
  run.did(run.testee.lacking({other, listed.round, {visit}}, run.now));
  ASSERT_EQ(run.all<round_closed>().size(), 2u);
  const auto told = run.all<round_closed>().back();
  EXPECT_TRUE(told.again); // A replay is to know which parts are left.
  EXPECT_EQ(told.visits.front().lines, std::vector{lead});
}

// Its line had not heard the list yet.
TEST(course_restart, strikes_out_what_was_refused_before_a_line_lacked_it) {
  run_of run{lost_round::patient(), closed()};
  run.did(run.testee.taken({.visit = seventh(3),
                            .line = lead,
                            .lines_total = 2,
                            .verdict = verdict::too_stale},
                           run.now));
  ASSERT_EQ(run.all<round_closed>().size(), 1u);
  run.did(run.testee.lacking({other, {3}, {seventh(3)}}, run.now));
  EXPECT_EQ(run.all<round_closed>().size(), 1u) << "another line's part";
  run.did(run.testee.lacking({lead, {3}, {seventh(3)}}, run.now));
  ASSERT_EQ(run.all<round_closed>().size(), 2u);
  EXPECT_EQ(run.all<round_closed>().back().visits.back().lines,
            std::vector{other});
}

TEST(course_restart, strikes_out_at_once_what_a_line_was_asked_for_in_vain) {
  lost_round run;
  run.say_hello_all();
  run.did(run.testee.lacking({lead, {3}, {seventh(1)}, {seventh(1)}}, run.now));
  ASSERT_EQ(run.lists(), 2u);
  EXPECT_EQ(run.lines_of(seventh(1)), std::vector{other});
}

TEST(course_restart, strikes_out_at_once_what_the_gateway_refuses) {
  for (const auto why : {verdict::not_invited, verdict::malformed}) {
    lost_round run;
    run.say_hello_all();
    run.did(run.testee.taken(
      {.visit = seventh(1), .line = lead, .lines_total = 2}, run.now));
    run.did(run.testee.failed({seventh(1), why}, run.now));
    ASSERT_EQ(run.lists(), 2u);
    EXPECT_EQ(run.lines_of(seventh(1)), std::vector{lead}) << "it is there";
    run.did(run.testee.failed({seventh(2), why}, run.now));
    ASSERT_EQ(run.lists(), 3u);
    EXPECT_EQ(run.last(), (std::vector{seventh(1), seventh(3)}));
    run.did(run.testee.failed({{{1}, {6}}, why}, run.now)); // Not on the list.
    EXPECT_EQ(run.lists(), 3u);
  }
}

// It beats, remembers all there is, and offers nothing.
TEST(course_restart, waits_for_who_is_here_while_its_ticket_is_good) {
  auto x = lost_round::patient();
  x.visit_timeout = 1h;
  lost_round run{x};
  run.say_hello_all();
  run.take(seventh(2));
  run.wait(59min);
  EXPECT_EQ(run.lists(), 1u);
  run.say_hello({1}, {7});
  EXPECT_EQ(run.testee.next_due(), run.now + 1min);
  run.wait(1min);
  ASSERT_EQ(run.lists(), 2u);
  EXPECT_EQ(run.last(), std::vector{seventh(2)});
}

// It may have let go of what a process before this one refused, which nobody
// knows any more.
TEST(course_restart, waits_in_a_window_while_an_offer_may_be_said_again) {
  auto x = slots_of(2);
  x.mode = pace_kind::semisync;
  x.window = 10s;
  x.silence_max = 90s;
  lost_round run{x};
  run.say_hello_all();
  run.take(seventh(2));
  run.wait(11min + 29s);
  EXPECT_EQ(run.lists(), 1u);
  run.wait(1s);
  ASSERT_EQ(run.lists(), 2u);
  EXPECT_EQ(run.last(), std::vector{seventh(2)});
}

// After a power cut the server is there first.
TEST(course_restart, waits_for_all_while_nobody_has_come) {
  lost_round run;
  run.wait(1h);
  EXPECT_EQ(run.lists(), 1u);
  run.say_hello({2}, {7});
  run.wait(89s);
  EXPECT_EQ(run.lists(), 1u);
  run.say_hello({3}, {7});
  run.wait(1s);
  ASSERT_EQ(run.lists(), 2u);
  EXPECT_EQ(run.last(), (std::vector{seventh(2), seventh(3)}));
}

// One line had its version before the restart, the other one has nothing.
TEST(course_restart, counts_a_round_of_which_a_line_has_a_version) {
  for (const bool has_version : {false, true}) {
    auto found = closed();
    found.fruitful = 2;
    found.round_has_version = has_version;
    lost_round run{lost_round::patient(), found};
    for (std::uint64_t i = 1; i <= 3; ++i)
      run.say_hello({i}, {});
    EXPECT_TRUE(run.last().empty());
    run.merge();
    EXPECT_EQ(run.testee.rounds_closed(), 3u);
    const auto counted = run.all<messages::round_counted>();
    ASSERT_EQ(counted.size(), has_version ? 1u : 0u);
    if (has_version) {
      EXPECT_EQ(counted[0].rounds, 3u);
    }
  }
}

// It had its parts when the list was struck, and merged them all the same.
TEST(course_restart, counts_a_round_that_is_struck_and_merged) {
  lost_round run;
  for (std::uint64_t i = 1; i <= 3; ++i)
    run.say_hello({i}, {});
  EXPECT_TRUE(run.last().empty());
  run.did(run.testee.published({.line = lead,
                                .head = {9},
                                .round = {3},
                                .blocks = {},
                                .merged = {seventh(1)}},
                               run.now));
  run.merge();
  EXPECT_EQ(run.all<messages::round_counted>().size(), 1u);
}

TEST(course_restart, does_not_count_a_round_of_which_no_line_has_a_version) {
  run_of run{lost_round::patient(), closed()};
  run.did(run.testee.due(run.now));
  for (const auto line : {lead, other})
    run.did(run.testee.merged({line, {3}, {9}}, run.now));
  EXPECT_EQ(run.testee.rounds_closed(), 3u);
  EXPECT_TRUE(run.all<messages::round_counted>().empty());
}

// Its other line is still at the list.
TEST(course_restart, has_a_part_dropped_that_comes_after_it_was_struck) {
  auto x = slots_of(2);
  x.mode = pace_kind::semisync;
  x.window = 10s;
  run_of run{x, closed()};
  run.did(run.testee.due(run.now));
  run.did(run.testee.lacking({other, {3}, {seventh(1)}}, run.now));
  run.did(
    run.testee.joined({.client = {1}, .examples = 10, .last = {}}, run.now));
  ASSERT_EQ(run.all<round_closed>().size(), 2u);
  run.did(run.testee.taken(
    {.visit = seventh(1), .line = other, .lines_total = 2}, run.now));
  run.now += 20s;
  run.did(run.testee.due(run.now));
  const auto dropped = run.all<messages::visit_dropped>();
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_EQ(dropped[0].visit, seventh(1));
}

} // namespace troupe::actors
