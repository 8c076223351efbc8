// Clients that fail, and what becomes of rounds and of the run.

#include "tests/unit/actors/director/course_fixture.hpp"

namespace troupe::actors::course_failures_test {

using namespace std::chrono_literals;
using messages::decline_reason;

namespace {

course::options failing(course::options x) {
  x.failures_max = 2;
  x.decline_pause = 1s;
  x.alone_first = 60s;
  x.alone_max = 200s;
  x.strangers = false;
  return x;
}

/// The one that was invited last ends its visit like this.
void end_last(run_of& run, decline_reason why) {
  const auto visit = run.all<invitation_made>().back().pass.visit;
  run.did(run.testee.failed({visit, why}, run.now));
}

void wait(run_of& run, instant x) {
  run.now += x;
  run.did(run.testee.due(run.now));
}

/// Fails whenever it is invited; the others offer.
void play(run_of& run, client_id bad, std::size_t from) {
  for (auto i = from; i < run.all<invitation_made>().size(); ++i) {
    const auto visit = run.all<invitation_made>()[i].pass.visit;
    if (visit.client == bad)
      run.did(run.testee.failed({visit, decline_reason::failed}, run.now));
    else
      run.take(visit);
  }
}

/// What has closed and was not merged yet.
void merge_all(run_of& run, std::size_t& merged) {
  const auto closed = run.all<round_closed>();
  for (; merged < closed.size(); ++merged) {
    const version head{merged + 1};
    for (const auto line : {lead, other}) {
      if (!closed[merged].visits.empty())
        run.did(run.testee.published({.line = line,
                                      .head = head,
                                      .round = closed[merged].round,
                                      .blocks = {},
                                      .merged = visits_of(closed[merged])},
                                     run.now));
      run.did(run.testee.merged({line, closed[merged].round, head}, run.now));
    }
  }
}

std::vector<messages::run_finished> ends_of(run_of& run) {
  for (const auto line : {lead, other})
    run.did(run.testee.ended(messages::line_ended{line, {}}, run.now));
  return run.all<messages::run_finished>();
}

} // namespace

TEST(course_failures, leave_a_client_alone_for_a_while_that_doubles) {
  run_of run{failing(slots_of(3))};
  run.join(3);
  const client_id bad{2};
  std::vector<instant> pauses;
  for (int i = 0; i < 6; ++i) {
    // Its next invitation, however long that takes.
    const auto invited = [&] {
      const auto all = run.all<invitation_made>();
      return std::ranges::count_if(
        all, [&](const auto& x) { return x.pass.visit.client == bad; });
    };
    const auto before = run.now;
    while (invited() == i && run.now < before + 1000s)
      wait(run, 1s);
    pauses.push_back(run.now - before);
    const auto all = run.all<invitation_made>();
    visit_id last{};
    for (const auto& x : all)
      if (x.pass.visit.client == bad)
        last = x.pass.visit;
    run.did(run.testee.failed({last, decline_reason::failed}, run.now));
  }
  EXPECT_EQ(pauses, (std::vector<instant>{0s, 1s, 60s, 120s, 200s, 200s}));
  EXPECT_TRUE(run.all<messages::run_finished>().empty());
}

// It offers, and all that was is forgotten; it drops out, and nothing is.
TEST(course_failures, are_forgiven_by_an_offer_that_is_kept_and_nothing_else) {
  for (const auto between : {0, 1, 2}) {
    run_of run{failing(slots_of(1))};
    run.join(3);
    const auto alone = [&] {
      std::size_t count = 0;
      for (const auto& x : run.all<messages::client_failed>())
        count += x.alone_until.has_value();
      return count;
    };
    // One slot: whoever is invited fails twice, with something in between.
    std::map<client_id, int> seen;
    for (int i = 0; i < 40 && alone() == 0; ++i) {
      const auto visit = run.all<invitation_made>().back().pass.visit;
      const auto turn = seen[visit.client]++;
      if (turn % 2 == 0)
        end_last(run, decline_reason::failed);
      else if (between == 0)
        run.take(visit);
      else
        end_last(run, between == 1 ? decline_reason::dropped
                                   : decline_reason::no_offer);
      wait(run, 2s);
    }
    EXPECT_EQ(alone() > 0, between != 0) << between;
  }
}

TEST(course_failures,
     are_forgiven_by_a_visit_that_ended_well_where_none_offer) {
  auto options = failing(slots_of(1));
  options.offers = false;
  run_of run{options};
  run.join(3);
  std::map<client_id, int> seen;
  for (int i = 0; i < 40; ++i) {
    const auto visit = run.all<invitation_made>().back().pass.visit;
    end_last(run, seen[visit.client]++ % 2 == 0 ? decline_reason::failed
                                                : decline_reason::no_offer);
    wait(run, 2s);
  }
  for (const auto& x : run.all<messages::client_failed>())
    EXPECT_FALSE(x.alone_until);
}

// Three would have made a version; who fails or drops out is none of them.
TEST(course_failures, are_no_part_of_what_counts_as_a_round_without_offers) {
  auto options = failing(slots_of(1));
  options.offers = false;
  options.batch = 3;
  options.failures_max = 0; // All are invited again.
  run_of run{options};
  run.join(3);
  for (int i = 0; i < 14; ++i) {
    end_last(run, i % 2 == 0   ? decline_reason::no_offer
                  : i % 4 == 1 ? decline_reason::failed
                               : decline_reason::dropped);
    wait(run, 2s);
  }
  std::vector<std::uint64_t> counted;
  for (const auto& x : run.all<messages::round_counted>()) {
    EXPECT_TRUE(x.is_of_visits);
    counted.push_back(x.rounds);
  }
  EXPECT_EQ(counted, (std::vector<std::uint64_t>{1, 2}));
  run.did(run.testee.finish({"enough"}, run.now));
  EXPECT_EQ(ends_of(run).front().rounds, 2u);
}

TEST(course_failures, do_not_keep_rounds_from_going_on) {
  auto options = failing(rounds_of(3));
  options.budget.rounds = 5;
  run_of run{options};
  run.join(3);
  std::size_t heard = 0;
  std::size_t merged = 0;
  for (int i = 0; i < 20 && run.all<messages::line_closing>().empty(); ++i) {
    const auto from = heard;
    heard = run.all<invitation_made>().size();
    play(run, {2}, from);
    wait(run, 2s);
    merge_all(run, merged);
  }
  std::size_t fruitful = 0;
  for (const auto& x : run.all<round_closed>()) {
    fruitful += !x.visits.empty();
    EXPECT_TRUE(x.visits.empty() || x.visits.size() == 2u);
  }
  EXPECT_EQ(fruitful, 5u); // A round of which nothing comes is none.
  const auto ends = ends_of(run);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_FALSE(ends[0].failed) << ends[0].reason;
}

TEST(course_failures, of_all_in_a_round_make_it_none_that_counts) {
  auto options = failing(rounds_of(3));
  options.budget.rounds = 3;
  run_of run{options};
  run.join(3);
  std::size_t heard = 0;
  std::size_t merged = 0;
  for (int i = 0; i < 20 && run.all<messages::line_closing>().empty(); ++i) {
    const auto all = run.all<invitation_made>();
    for (; heard < all.size(); ++heard)
      if (const auto visit = all[heard].pass.visit; i == 1)
        run.did(run.testee.failed({visit, decline_reason::failed}, run.now));
      else
        run.take(visit);
    wait(run, 2s);
    merge_all(run, merged);
  }
  std::vector<std::size_t> sizes;
  for (const auto& x : run.all<round_closed>())
    sizes.push_back(x.visits.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 0, 3, 3}));
  std::vector<std::uint64_t> counts;
  for (const auto& x : run.all<messages::round_counted>())
    counts.push_back(x.rounds);
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{1, 2, 3}))
    << "it says other rounds than it counts";
}

TEST(course_failures, end_the_run_when_nobody_is_left_to_be_invited) {
  run_of run{failing(slots_of(3))};
  run.join(3);
  for (int i = 0; i < 30 && run.all<messages::line_closing>().empty(); ++i) {
    const auto all = run.all<invitation_made>();
    for (const auto& x : all)
      run.did(
        run.testee.failed({x.pass.visit, decline_reason::failed}, run.now));
    wait(run, 1s);
  }
  const auto ends = ends_of(run);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(ends[0].failed);
  EXPECT_NE(ends[0].reason.find("the visits of all 3 clients fail"),
            std::string::npos)
    << ends[0].reason;
}

TEST(course_failures, end_the_run_after_many_visits_without_a_version) {
  auto options = failing(slots_of(1));
  options.failures_max = 0;
  options.fruitless_max = 4;
  run_of run{options};
  run.join(3);
  for (int i = 0; i < 9; ++i) {
    end_last(run, decline_reason::busy); // It waits for us.
    wait(run, 2s);
  }
  for (int i = 0; i < 3; ++i) {
    end_last(run, decline_reason::failed);
    wait(run, 2s);
  }
  EXPECT_TRUE(run.all<messages::line_closing>().empty());
  run.did(run.testee.failed({run.all<invitation_made>().back().pass.visit,
                             policies::verdict::malformed},
                            run.now));
  const auto ends = ends_of(run);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(ends[0].failed);
  EXPECT_EQ(ends[0].reason.substr(0, 56),
            "the last 4 visits that ended made no version; the last t");
  EXPECT_NE(ends[0].reason.find("was malformed, perhaps by a value above "
                                "merge.delta_max"),
            std::string::npos)
    << ends[0].reason;
}

TEST(course_failures, do_not_end_the_run_if_they_are_of_a_few) {
  auto options = failing(slots_of(3));
  options.failures_max = 0;
  options.fruitless_max = 4;
  run_of run{options};
  run.join(3);
  const auto fail_of = [&](client_id who) {
    const auto all = run.all<invitation_made>();
    const auto last =
      std::ranges::find(all.rbegin(), all.rend(), who,
                        [](const auto& x) { return x.pass.visit.client; });
    run.did(
      run.testee.failed({last->pass.visit, decline_reason::failed}, run.now));
    wait(run, 2s);
  };
  for (int i = 0; i < 9; ++i)
    fail_of({1});
  EXPECT_TRUE(run.all<messages::line_closing>().empty());
  fail_of({2});
  EXPECT_EQ(ends_of(run).size(), 1u);
}

// It may say hello as often as it likes.
TEST(course_failures, leave_a_stranger_waiting_of_whom_nothing_comes) {
  auto options = failing(slots_of(1));
  options.strangers = true;
  options.clients_expected = 1;
  run_of run{options};
  run.join(1);
  for (const auto pause : {1s, 2s, 4s}) {
    const auto visit = run.all<invitation_made>().back().pass.visit;
    run.did(run.testee.left({.client = visit.client, .said = true}, run.now));
    const auto before = run.all<invitation_made>().size();
    run.did(
      run.testee.joined({.client = visit.client, .examples = 1}, run.now));
    wait(run, pause - 500ms);
    EXPECT_EQ(run.all<invitation_made>().size(), before);
    wait(run, 500ms);
    EXPECT_EQ(run.all<invitation_made>().size(), before + 1);
  }
}

TEST(course_failures, end_the_run_when_whoever_is_asked_drops_out) {
  auto options = failing(slots_of(1));
  options.fruitless_max = 2;
  options.dropped_max = 5;
  run_of run{options};
  run.join(3);
  const auto drop = [&](int times) {
    while (times-- > 0)
      end_last(run, decline_reason::dropped);
  };
  drop(4);
  run.did(run.testee.published({lead, {1}, {}, {}, {}}, run.now));
  drop(4);
  EXPECT_TRUE(run.all<messages::line_closing>().empty());
  drop(1);
  const auto ends = ends_of(run);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(ends[0].failed);
  EXPECT_EQ(ends[0].reason, "since there was a version, or the run began, 5 "
                            "visits dropped out");
}

// By the wall clock nobody knows whether it did so, and it could say so often.
TEST(course_failures, ask_again_later_who_says_that_it_drops_out) {
  auto options = failing(slots_of(1));
  options.strangers = true;
  options.clients_expected = 1;
  run_of run{options};
  run.join(1);
  for (const auto pause : {1s, 2s, 4s}) {
    end_last(run, decline_reason::dropped);
    const auto before = run.all<invitation_made>().size();
    wait(run, pause - 500ms);
    EXPECT_EQ(run.all<invitation_made>().size(), before);
    wait(run, 500ms);
    EXPECT_EQ(run.all<invitation_made>().size(), before + 1);
  }
  EXPECT_TRUE(run.all<messages::client_failed>().empty());
}

// Also of the next round, when some of what was reserved is left.
TEST(course, reserves_a_cohort_before_it_invites_one) {
  for (const std::uint32_t n : {5000, 3000}) {
    auto options = rounds_of(n);
    options.clients_expected = n;
    run_of run{options};
    run.join(n);
    for (std::size_t round = 1; round <= 4; ++round) {
      const auto invited = run.all<invitation_made>();
      ASSERT_EQ(invited.size(), round * n) << n;
      for (auto i = invited.size() - n; i < invited.size(); ++i)
        run.take(invited[i].pass.visit);
      const auto closed = run.all<round_closed>();
      ASSERT_EQ(closed.size(), round) << n;
      EXPECT_EQ(closed.back().visits.size(), n);
      for (const auto line : {lead, other})
        run.did(
          run.testee.merged({line, closed.back().round, {round}}, run.now));
    }
  }
}

TEST(course, calls_a_run_without_a_version_no_success) {
  auto options = slots_of(1);
  options.budget.seconds = 10;
  run_of run{options};
  run.join(3);
  wait(run, 20s);
  const auto ends = ends_of(run);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(ends[0].failed);
  EXPECT_EQ(ends[0].reason,
            "the run's length is reached, and no version was made");
}

} // namespace troupe::actors::course_failures_test
