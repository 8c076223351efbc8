// What a course that begins again goes on with, and does not forget.

#include <map>

#include "tests/unit/actors/director/course_fixture.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;

namespace {

/// Three clients that were invited before.
course::durable begun() {
  course::durable x;
  x.index_upto = 40;
  for (std::uint64_t i = 1; i <= 3; ++i)
    x.clients[{i}] = {.client = {i}, .examples = 10, .numbers_upto = 32};
  return x;
}

messages::ticket at_work(client_id x) {
  messages::ticket pass;
  pass.visit = {x, {7}};
  pass.expires_ns = instant{1h}.count();
  return pass;
}

void evaluate(run_of& run, double metric) {
  run.did(run.testee.evaluated({}, metric, run.now));
}

} // namespace

TEST(course_restart, takes_up_what_clients_are_at_work_on) {
  run_of run{slots_of(1), begun()};
  const auto pass = at_work({2});
  run.did(run.testee.joined(
    {.client = {2}, .examples = 10, .last = {7}, .open = pass}, run.now));
  run.join(3);
  EXPECT_EQ(run.testee.status(run.now).visits_open, 1u);
  for (const auto& x : run.all<invitation_made>())
    EXPECT_EQ(x.pass.visit, pass.visit); // Said again; nobody else is invited.
  run.take(pass.visit);
  EXPECT_NE(run.all<invitation_made>().back().pass.visit, pass.visit);
}

// Its second hello may come after what it has offered meanwhile.
TEST(course_restart, takes_up_once_what_an_old_hello_says) {
  for (const auto mode : {pace_kind::semisync, pace_kind::fedbuff}) {
    auto x = slots_of(1);
    x.mode = mode;
    x.window = 10s;
    run_of run{x, begun()};
    const messages::client_joined hello{
      .client = {2}, .examples = 10, .last = {7}, .open = at_work({2})};
    run.did(run.testee.joined(hello, run.now));
    run.take(hello.open->visit);
    run.did(run.testee.joined(hello, run.now));
    const auto told = run.all<invitation_made>();
    EXPECT_LE(std::ranges::count(told, hello.open->visit,
                                 [](const auto& y) { return y.pass.visit; }),
              1);
    EXPECT_TRUE(run.all<messages::visit_withdrawn>().empty());
    run.take(hello.open->visit);
    run.now += 11s;
    run.did(run.testee.due(run.now));
    if (mode == pace_kind::semisync) {
      ASSERT_EQ(run.all<round_closed>().size(), 1u);
      EXPECT_EQ(visits_of(run.all<round_closed>()[0]),
                std::vector{hello.open->visit});
    }
  }
}

TEST(course_restart, does_not_open_again_what_has_failed) {
  run_of run{slots_of(1), begun()};
  const messages::client_joined hello{
    .client = {2}, .examples = 10, .last = {7}, .open = at_work({2})};
  run.did(run.testee.joined(hello, run.now));
  run.did(run.testee.failed(
    {hello.open->visit, messages::decline_reason::failed}, run.now));
  run.did(run.testee.joined(hello, run.now));
  EXPECT_EQ(run.all<messages::visit_withdrawn>().size(), 1u);
  run.did(run.testee.failed(
    {hello.open->visit, messages::decline_reason::failed}, run.now));
  EXPECT_EQ(run.all<messages::client_failed>().size(), 1u) << "counted twice";
}

TEST(course_restart, tells_who_works_for_nobody) {
  run_of run{rounds_of(3), begun()};
  run.did(run.testee.joined(
    {.client = {2}, .examples = 10, .last = {7}, .open = at_work({2})},
    run.now));
  ASSERT_EQ(run.all<messages::visit_withdrawn>().size(), 1u);
  EXPECT_EQ(run.all<messages::visit_withdrawn>()[0].visit, at_work({2}).visit);
}

TEST(course_restart, takes_up_nothing_that_is_merged_or_was_never_given) {
  auto found = begun();
  found.merged[{2}].insert({7});
  auto never = at_work({3});
  never.visit.number = {40};
  for (const auto& pass : {at_work({2}), never}) {
    run_of run{slots_of(3), found};
    run.did(run.testee.joined({.client = pass.visit.client,
                               .examples = 10,
                               .last = pass.visit.number,
                               .open = pass},
                              run.now));
    for (const auto& x : run.all<invitation_made>())
      EXPECT_NE(x.pass.visit, pass.visit);
  }
}

// Its folder came from a copy: it has forgotten what it gave since, and its
// clients have not. An old hello may come after a newer one.
TEST(course_restart, gives_no_number_again_that_a_hello_remembers) {
  run_of run{slots_of(3), begun()};
  for (const std::uint64_t remembered : {100, 50})
    for (std::uint64_t i = 1; i <= 3; ++i)
      run.did(run.testee.joined(
        {.client = {i}, .examples = 10, .last = {remembered}}, run.now));
  for (std::size_t i = 0; i < run.all<invitation_made>().size() && i < 60; ++i)
    run.take(run.all<invitation_made>()[i].pass.visit);
  std::map<client_id, std::uint64_t> durable;
  std::size_t given = 0;
  for (const auto& x : run.said)
    if (const auto* save = std::get_if<save_requested>(&x)) {
      for (const auto& record : save->clients)
        durable[record.client] = record.numbers_upto;
    } else if (const auto* made = std::get_if<invitation_made>(&x)) {
      const auto& visit = made->pass.visit;
      EXPECT_GT(visit.number.value, 100u) << "its client remembers that number";
      EXPECT_LE(visit.number.value, durable[visit.client]);
      ++given;
    }
  EXPECT_GE(given, 60u);
}

// Nobody uses all numbers up by a word.
TEST(course_restart, believes_nobody_who_remembers_more_than_can_be) {
  run_of run{slots_of(1), begun()};
  for (std::uint64_t i = 1; i <= 3; ++i)
    run.did(run.testee.joined(
      {.client = {i}, .examples = 10, .last = {std::uint64_t{1} << 40}},
      run.now));
  ASSERT_FALSE(run.all<invitation_made>().empty());
  EXPECT_EQ(run.all<invitation_made>()[0].pass.visit.number.value, 33u);
}

TEST(course_restart, goes_on_with_the_progress_that_was_made) {
  auto slots = slots_of(1);
  slots.budget.updates = 100;
  auto found = begun();
  found.updates = 90;
  run_of run{slots, found};
  run.join(3);
  ASSERT_FALSE(run.all<invitation_made>().empty());
  EXPECT_EQ(run.all<invitation_made>().front().pass.progress, 0.9);
}

TEST(course_restart, does_not_count_rounds_again_that_made_nothing) {
  auto rounds = rounds_of(3);
  rounds.budget.rounds = 10;
  auto found = begun();
  found.round = {.round = {9}, .closed = 1};
  found.fruitful = 5; // Of eight.
  run_of run{rounds, found};
  run.join(3);
  for (const auto line : {lead, other})
    run.did(run.testee.merged({line, {9}, {5}}, run.now));
  ASSERT_FALSE(run.all<invitation_made>().empty());
  EXPECT_EQ(run.all<invitation_made>().front().pass.progress, 0.5);
}

TEST(course_restart, goes_on_waiting_for_a_better_version) {
  auto slots = slots_of(1);
  slots.stop = policies::stop_rule{.patience = 3};
  course::durable found;
  {
    run_of before{slots, begun()};
    before.join(3);
    evaluate(before, 0.5);
    evaluate(before, 0.4);
    evaluate(before, 0.4);
    const auto saved = before.all<save_requested>();
    ASSERT_TRUE(saved.back().stopper);
    EXPECT_EQ(saved.back().stopper->best, 0.5);
    found = begun();
    found.stopper = *saved.back().stopper;
  }
  run_of run{slots, found};
  run.join(3);
  evaluate(run, 0.49);
  for (const auto line : {lead, other})
    run.did(run.testee.ended({line, {0}}, run.now));
  ASSERT_EQ(run.all<messages::run_finished>().size(), 1u);
  EXPECT_EQ(run.all<messages::run_finished>()[0].reason,
            "no better version within the patience");
}

TEST(course_restart, knows_how_clients_have_fared) {
  auto rounds = rounds_of(2);
  run_of before{rounds};
  before.join(3);
  const auto cohort = before.all<invitation_made>();
  ASSERT_EQ(cohort.size(), 2u);
  for (const auto& x : cohort)
    for (const auto line : {lead, other})
      before.did(before.testee.taken(
        {.visit = x.pass.visit, .line = line, .lines_total = 2, .loss = 3},
        before.now));
  course::durable found;
  for (const auto& save : before.all<save_requested>()) {
    for (const auto& x : save.clients)
      found.clients[x.client] = x;
    found.index_upto = save.index_upto;
  }
  for (const auto& x : cohort) {
    const auto& record = found.clients.at(x.pass.visit.client);
    EXPECT_EQ(record.times_chosen, 1u);
    EXPECT_EQ(record.loss, 3);
  }
  // Whom it saves again it knows.
  run_of run{rounds, found};
  for (const auto& x : cohort) {
    const auto client = x.pass.visit.client;
    run.did(run.testee.joined({.client = client, .examples = 10}, run.now));
    bool is_known = false;
    for (const auto& save : run.all<save_requested>())
      for (const auto& record : save.clients)
        is_known |= record.client == client && record.times_chosen == 1
                    && record.loss == 3.0;
    EXPECT_TRUE(is_known);
  }
}

TEST(course_restart, leaves_who_is_busy_alone_for_longer_each_time) {
  auto slots = slots_of(1);
  slots.clients_expected = 1;
  run_of run{slots};
  run.join(1);
  std::vector<instant> said;
  for (int i = 0; i < 16; ++i) {
    const auto& known = run.all<invitation_made>();
    if (known.size() > said.size()) {
      said.push_back(run.now);
      run.did(run.testee.failed(
        {known.back().pass.visit, messages::decline_reason::busy}, run.now));
    }
    run.now += 1s;
    run.did(run.testee.due(run.now));
  }
  EXPECT_EQ(said, (std::vector<instant>{1s, 2s, 4s, 8s, 16s}));
}

} // namespace troupe::actors
