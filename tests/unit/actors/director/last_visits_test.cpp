// Last visits: when all that was planned is done, each client that has a part
// in a version comes once more.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "tests/unit/actors/director/course_fixture.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;
using messages::course_end;
using messages::decline_reason;
using messages::run_finished;
using messages::visit_withdrawn;

namespace {

/// Three at once, one version, and last visits in role 1.
course::options planned() {
  auto x = slots_of(3);
  x.budget.versions = 1;
  x.last_role = 1;
  x.invitation_first = x.invitation_retry = 24h; // None is said again.
  return x;
}

struct ending_run : run_of {
  explicit ending_run(course::options o = planned(), course::durable found = {})
    : run_of(std::move(o), std::move(found)) {
    // nop
  }

  /// All three clients have a part in the version, and lines are to end.
  void train() {
    join(3);
    messages::version_published made{
      .line = lead, .head = {1}, .round = {}, .blocks = {}, .merged = {}};
    for (const auto& x : all<invitation_made>()) {
      made.merged.push_back(x.pass.visit);
      take(x.pass.visit);
    }
    did(testee.published(made, now));
  }

  void end_lines() {
    for (const auto line : {lead, other})
      did(testee.ended({line, {1}}, now));
  }

  /// Invitations to last visits.
  std::vector<messages::ticket> last() const {
    std::vector<messages::ticket> result;
    for (const auto& x : all<invitation_made>())
      if (x.pass.role == 1)
        result.push_back(x.pass);
    return result;
  }

  void say(visit_id x, decline_reason why) {
    did(testee.failed({x, why}, now));
  }

  void leave(std::uint64_t client, bool said) {
    did(testee.left({{client}, said}, now));
  }

  void wait(instant x) {
    now += x;
    did(testee.due(now));
  }

  /// What it said at the end; empty: it goes on.
  std::string reason() const {
    const auto found = all<run_finished>();
    EXPECT_LE(found.size(), 1u);
    return found.empty() ? "" : found.front().reason;
  }
};

/// As a process before this one left it: client 1 had its own.
course::durable ended() {
  course::durable x;
  x.index_upto = 40;
  x.heads = {{lead, {1}}};
  for (std::uint64_t i = 1; i <= 3; ++i) {
    x.clients[{i}] = {.client = {i}, .examples = 10, .numbers_upto = 32};
    policies::insert_once(x.merged, {{i}, {1}});
  }
  x.end = course_end::length;
  x.had_last = {{1}};
  return x;
}

} // namespace

TEST(last_visits, come_when_lines_have_ended_and_are_all_that_is_waited_for) {
  ending_run run;
  run.train();
  EXPECT_EQ(run.all<messages::line_closing>().size(), 1u);
  EXPECT_TRUE(run.last().empty());
  run.end_lines();
  const auto passes = run.last();
  ASSERT_EQ(passes.size(), 3u);
  for (const auto& x : passes) {
    EXPECT_EQ(x.round, round_number{});
    EXPECT_EQ(x.progress, 1);
    EXPECT_EQ(run.reason(), "");
    run.say(x.visit, decline_reason::no_offer);
  }
  EXPECT_EQ(run.reason(), "the run's length is reached");
  EXPECT_EQ(run.all<run_finished>().front().heads.at(lead), version{1});
  EXPECT_EQ(run.last().size(), 3u) << "somebody is asked again";
}

TEST(last_visits, wait_until_it_is_durable_that_the_run_has_come_to_them) {
  ending_run run;
  run.train();
  run.saves_succeed = false;
  run.end_lines();
  EXPECT_TRUE(run.last().empty());
  const auto save = run.all<save_requested>().back();
  EXPECT_EQ(save.end, course_end::length);
  run.saves_succeed = true;
  run.did(run.testee.saved(save.token, run.now));
  EXPECT_EQ(run.last().size(), 3u);
}

TEST(last_visits, are_over_when_it_is_durable_who_had_them) {
  ending_run run;
  run.train();
  run.end_lines();
  const auto passes = run.last();
  ASSERT_EQ(passes.size(), 3u);
  run.saves_succeed = false;
  for (const auto& x : passes)
    run.say(x.visit, decline_reason::no_offer);
  EXPECT_EQ(run.reason(), "");
  EXPECT_EQ(run.all<save_requested>().back().last_visits,
            std::vector{passes[0].visit});
  run.saves_succeed = true;
  run.did(run.testee.saved(run.all<save_requested>().back().token, run.now));
  EXPECT_EQ(run.all<save_requested>().back().last_visits,
            (std::vector{passes[1].visit, passes[2].visit}));
  EXPECT_NE(run.reason(), "");
}

TEST(last_visits, of_a_run_that_begins_again_are_of_who_had_none) {
  ending_run run{planned(), ended()};
  run.join(3);
  EXPECT_EQ(run.all<messages::line_closing>().size(), 1u);
  EXPECT_TRUE(run.all<invitation_made>().empty());
  run.end_lines();
  const auto passes = run.last();
  ASSERT_EQ(passes.size(), 2u);
  EXPECT_EQ(passes[0].visit.client, client_id{2});
  EXPECT_EQ(passes[1].visit.client, client_id{3});
  for (const auto& x : passes)
    run.say(x.visit, decline_reason::no_offer);
  EXPECT_EQ(run.reason(), "the run's length is reached");
}

// Nobody knows yet of what a process before this one asked for.
TEST(last_visits, of_an_earlier_process_are_withdrawn) {
  ending_run run{planned(), ended()};
  messages::ticket pass;
  pass.visit = {{2}, {7}};
  pass.role = 1;
  run.did(run.testee.joined(
    {.client = {2}, .examples = 10, .last = {7}, .open = pass}, run.now));
  ASSERT_EQ(run.all<visit_withdrawn>().size(), 1u);
  EXPECT_EQ(run.all<visit_withdrawn>()[0].visit, pass.visit);
}

TEST(last_visits, are_of_who_has_a_part_in_a_version) {
  ending_run run;
  run.join(4);
  const auto open = run.all<invitation_made>();
  ASSERT_EQ(open.size(), 3u);
  for (const auto& x : open)
    run.take(x.pass.visit);
  run.did(run.testee.published({.line = lead,
                                .head = {1},
                                .round = {},
                                .blocks = {},
                                .merged = {open[1].pass.visit}},
                               run.now));
  run.end_lines();
  ASSERT_EQ(run.last().size(), 1u);
  EXPECT_EQ(run.last()[0].visit.client, open[1].pass.visit.client);
}

TEST(last_visits, that_come_to_nothing_are_tried_again_but_not_for_ever) {
  ending_run run;
  run.train();
  run.end_lines();
  std::optional<visit_id> next;
  for (const auto& x : run.last())
    if (x.visit.client == client_id{2})
      next = x.visit;
    else
      run.say(x.visit, decline_reason::no_offer);
  std::size_t tries = 0;
  for (; next && run.reason().empty(); ++tries) {
    run.say(*next, decline_reason::failed);
    const auto before = run.last().size();
    run.wait(2min);
    next.reset();
    if (run.last().size() > before)
      next = run.last().back().visit;
  }
  EXPECT_EQ(tries, 8u);
  EXPECT_EQ(run.reason(),
            "the run's length is reached; 1 client had no last visit");
}

// The record has an end of it before the next one is asked for.
TEST(last_visits, whose_ticket_is_good_no_more_are_withdrawn) {
  ending_run run;
  run.train();
  run.end_lines();
  const auto visit = run.last().front().visit;
  const auto before = run.all<messages::visit_withdrawn>().size();
  run.did(run.testee.failed({visit, policies::verdict::not_invited}, run.now));
  const auto withdrawn = run.all<messages::visit_withdrawn>();
  ASSERT_EQ(withdrawn.size(), before + 1);
  EXPECT_EQ(withdrawn.back().visit, visit);
  run.wait(2min);
  EXPECT_EQ(std::ranges::count_if(
              run.last(),
              [&](const auto& x) { return x.visit.client == visit.client; }),
            2);
}

// It had come to its end before its client heard of that.
TEST(last_visits, that_were_done_when_they_were_ended_are_not_asked_for_again) {
  for (const bool is_newest : {true, false}) {
    ending_run run;
    run.train();
    run.end_lines();
    auto visit = run.last().front().visit;
    run.did(
      run.testee.failed({visit, policies::verdict::not_invited}, run.now));
    if (!is_newest)
      visit.number.value -= 1;
    run.say(visit, decline_reason::no_offer);
    run.wait(2min);
    EXPECT_EQ(std::ranges::count_if(
                run.last(),
                [&](const auto& x) { return x.visit.client == visit.client; }),
              is_newest ? 1 : 2);
  }
}

TEST(last_visits, wait_for_who_is_away_for_a_minute) {
  ending_run run;
  run.train();
  run.end_lines();
  run.leave(2, false);
  for (const auto& x : run.last())
    if (x.visit.client != client_id{2})
      run.say(x.visit, decline_reason::no_offer);
  EXPECT_EQ(run.testee.next_due(), instant{61s});
  run.wait(59s);
  EXPECT_EQ(run.reason(), "");
  run.wait(1s);
  EXPECT_EQ(run.reason(),
            "the run's length is reached; 1 client had no last visit");
  EXPECT_EQ(run.all<visit_withdrawn>().back().visit.client, client_id{2});
}

TEST(last_visits, go_on_with_who_comes_back) {
  ending_run run;
  run.train();
  run.leave(2, false);
  run.end_lines();
  EXPECT_EQ(run.last().size(), 2u);
  for (const auto& x : run.last())
    run.say(x.visit, decline_reason::no_offer);
  EXPECT_EQ(run.reason(), "");
  run.did(run.testee.joined({{2}, 10}, run.now));
  ASSERT_EQ(run.last().size(), 3u);
  run.say(run.last().back().visit, decline_reason::no_offer);
  EXPECT_EQ(run.reason(), "the run's length is reached");
}

TEST(last_visits, do_not_wait_for_who_said_that_it_leaves) {
  ending_run run;
  run.train();
  run.leave(1, true);
  run.end_lines();
  for (const auto& x : run.last())
    run.say(x.visit, decline_reason::no_offer);
  EXPECT_EQ(run.reason(),
            "the run's length is reached; 1 client had no last visit");
}

TEST(last_visits, that_run_out_are_not_asked_for_again) {
  auto x = planned();
  x.visit_timeout = 60s;
  ending_run run{x};
  run.train();
  run.end_lines();
  run.wait(61s);
  EXPECT_EQ(run.last().size(), 3u);
  EXPECT_EQ(run.reason(),
            "the run's length is reached; 3 clients had no last visit");
}

// Under the virtual clock visits have all the time there is.
TEST(last_visits, take_no_longer_than_a_day) {
  auto x = planned();
  x.visit_timeout = forever;
  ending_run run{x};
  run.train();
  run.end_lines();
  run.wait(24h);
  EXPECT_EQ(run.reason(),
            "the run's length is reached; 3 clients had no last visit");
}

TEST(last_visits, end_with_a_stop) {
  ending_run run;
  run.train();
  run.end_lines();
  const auto passes = run.last();
  run.say(passes[0].visit, decline_reason::no_offer);
  const auto before = run.all<visit_withdrawn>().size();
  run.did(run.testee.finish({"enough"}, run.now));
  EXPECT_EQ(run.all<visit_withdrawn>().size(), before + 2);
  EXPECT_EQ(run.reason(), "enough; 2 clients had no last visit");
  EXPECT_FALSE(run.all<run_finished>()[0].failed);
}

TEST(last_visits, end_with_what_breaks) {
  ending_run run;
  run.train();
  run.end_lines();
  run.did(run.testee.finish({"broken", true}, run.now));
  EXPECT_EQ(run.reason(), "broken; 3 clients had no last visit");
  EXPECT_TRUE(run.all<run_finished>()[0].failed);
}

// A stop before all was done is no end of it.
TEST(last_visits, do_not_come_where_a_run_is_stopped) {
  ending_run run;
  run.join(3);
  run.did(run.testee.finish({"enough"}, run.now));
  run.end_lines();
  EXPECT_TRUE(run.last().empty());
  EXPECT_EQ(run.reason(), "enough");
}

TEST(last_visits, come_where_a_target_is_reached) {
  auto x = planned();
  x.budget.versions = 9;
  x.stop = policies::stop_rule{.target = 0.5};
  ending_run run{x};
  run.train();
  run.did(run.testee.evaluated({}, 0.6, run.now));
  run.end_lines();
  ASSERT_EQ(run.last().size(), 3u);
  const auto saves = run.all<save_requested>();
  EXPECT_TRUE(std::ranges::any_of(
    saves, [](const auto& y) { return y.end == course_end::target; }));
  for (const auto& y : run.last())
    run.say(y.visit, decline_reason::no_offer);
  EXPECT_EQ(run.reason(), "the target is reached");
}

} // namespace troupe::actors
