// Stalls that are planted in the twins that decide, and named by `why`.

#include "actors/metrics/why.hpp"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/aggregator/ledger.hpp"
#include "actors/director/course.hpp"
#include "actors/kernel_worker/crew.hpp"
#include "models/tasks/noop.hpp"

namespace troupe::actors::why_test {

namespace {

using namespace std::chrono_literals;
using policies::verdict;
using testing::HasSubstr;

const line_id line{1};

course::options sync_rounds() {
  course::options x;
  x.mode = pace_kind::sync;
  x.lines = {line};
  x.lead = line;
  x.clients_per_round = 4;
  x.selection.window_size = 4;
  x.round_deadline = 10s;
  x.clients_expected = 4;
  return x;
}

/// A course, and the visits that it invited to.
class run_of_course {
public:
  explicit run_of_course(const course::options& x)
    : plan_(x, {.clients = {}, .round = {}, .heads = {{line, {7}}}}) {
    // nop
  }

  void join(std::uint64_t clients) {
    for (std::uint64_t k = 1; k <= clients; ++k)
      did(plan_.joined({{k}, 10}, now));
  }

  void leave(std::uint64_t client) {
    did(plan_.left({client}, now));
  }

  void answer(visit_id x, verdict what) {
    did(plan_.taken(
      {.visit = x, .line = line, .lines_total = 1, .verdict = what}, now));
  }

  void fail(visit_id x) {
    did(plan_.failed({x, messages::decline_reason::failed}, now));
  }

  void wait(instant x) {
    now += x;
    did(plan_.due(now));
  }

  run_status status() const {
    run_status x;
    x.clock = "wall";
    x.line_names[line] = "model";
    x.now_ms = x.answered_ms = 10'000;
    x.progress_ms = 4'000;
    x.course = plan_.status(now);
    x.at = now;
    return x;
  }

  std::vector<visit_id> invited;
  instant now{1s};

private:
  void did(const course::actions& what) {
    for (const auto& x : what) {
      if (const auto* made = std::get_if<messages::invitation_made>(&x))
        invited.push_back(made->pass.visit);
      else if (const auto* save = std::get_if<messages::save_requested>(&x))
        did(plan_.saved(save->token, now));
      else if (const auto* closed = std::get_if<messages::round_closed>(&x))
        did(plan_.merged({line, closed->round, {7}}, now));
    }
  }

  course plan_;
};

ledger::durable first_version() {
  return {
    .blocks = {
      {.block = {1}, .values = share({0.f}), .moments = {}, .digest = {}}}};
}

ledger ledger_of(std::size_t buffer_size, std::size_t staleness_max = 16) {
  ledger::options x;
  x.line = line;
  x.blocks.resize(1);
  x.blocks[0].id = {1};
  x.admission.staleness_max = staleness_max;
  x.buffer_size = buffer_size;
  return {x, first_version()};
}

messages::part_offered offer(std::uint64_t client) {
  return {.visit = {{client}, {1}},
          .line = line,
          .lines_total = 1,
          .round = {},
          .base = {},
          .blocks = {{{1}, 0, 1, share({0.f})}},
          .loss = 0};
}

course::options buffered() {
  auto x = sync_rounds();
  x.mode = pace_kind::fedbuff;
  x.concurrency = 4;
  return x;
}

} // namespace

// The six.

TEST(why, names_a_run_in_which_no_client_is_available) {
  run_of_course run{buffered()};
  run.join(4);
  for (std::uint64_t k = 1; k <= 4; ++k)
    run.leave(k);
  const auto found = why(run.status());
  EXPECT_EQ(found.code, "no_clients");
  EXPECT_EQ(found.what, "no client is available: 4 were here before");
  EXPECT_EQ(found.since_ms, 4'000);
}

TEST(why, names_a_quorum_that_cannot_be_met) {
  auto options = sync_rounds();
  options.quorum = 3;
  run_of_course run{options};
  run.join(4);
  ASSERT_EQ(run.invited.size(), 4u);
  run.leave(3);
  run.leave(4);
  run.answer(run.invited[0], verdict::accepted);
  run.wait(11s); // The round is given up, and the next cannot open.
  const auto found = why(run.status());
  EXPECT_EQ(found.code, "quorum");
  EXPECT_EQ(found.what, "the next round needs 3 free clients, and of 2 that "
                        "are here 2 are free");
}

TEST(why, names_rounds_that_are_given_up_below_their_quorum) {
  auto options = sync_rounds();
  options.quorum = 3;
  run_of_course run{options};
  run.join(4);
  run.answer(run.invited[0], verdict::accepted);
  run.wait(11s);
  const auto found = why(run.status());
  EXPECT_EQ(found.code, "quorum");
  EXPECT_THAT(found.what, HasSubstr("the last round was given up below its "
                                    "quorum of 3"));
  EXPECT_THAT(found.ends, HasSubstr("round_deadline"));
}

TEST(why, names_the_visit_at_which_a_worker_hangs) {
  std::promise<void> release;
  const auto hired = crew::hire(1, models::noop_trainers(models::layout{}, {}));
  ASSERT_TRUE(hired);
  std::promise<void> begun;
  (*hired)->add(
    [&](models::trainer&) {
      begun.set_value();
      release.get_future().wait();
    },
    {{3}, {7}});
  begun.get_future().wait();
  run_of_course run{buffered()};
  run.join(4);
  auto status = run.status();
  status.crew = (*hired)->status();
  release.set_value();
  ASSERT_EQ(status.crew.under_way.size(), 1u);
  EXPECT_NE(why(status).code, "worker"); // It has only begun.
  status.crew.under_way[0].seconds = 40;
  const auto found = why(status);
  EXPECT_EQ(found.code, "worker");
  EXPECT_EQ(found.what, "a worker has been at visit 7 of client 3 for 40 s");
  EXPECT_EQ(found.since_ms, 10'000 - 40'000);
}

TEST(why, names_a_disk_that_is_full) {
  auto book = ledger_of(1);
  book.offer(offer(1));
  ASSERT_TRUE(book.next());
  book.merged({line, book.head(), first_version().blocks});
  ASSERT_TRUE(book.next());
  book.failed();
  run_of_course run{buffered()};
  run.join(4);
  auto status = run.status();
  status.lines[line] = book.status();
  status.lines[line].failure = "ledger.sqlite: database or disk is full";
  const auto found = why(status);
  EXPECT_EQ(found.code, "disk");
  EXPECT_EQ(found.what, "version line 'model' cannot store version 1: "
                        "ledger.sqlite: database or disk is full");
  EXPECT_THAT(found.ends, HasSubstr("room on the disk"));
}

TEST(why, names_offers_that_all_come_too_stale) {
  auto ours = buffered();
  ours.strangers = false;
  run_of_course run{ours};
  run.join(4);
  for (int i = 0; i < 4; ++i)
    run.answer(run.invited[static_cast<std::size_t>(i)], verdict::too_stale);
  const auto found = why(run.status());
  EXPECT_EQ(found.code, "stale");
  EXPECT_EQ(found.what, "the last 4 offers came too stale and were refused; 4 "
                        "visits are under way");
  EXPECT_THAT(found.ends, HasSubstr("staleness_max"));
}

TEST(why, names_deadlines_that_pass_without_an_offer) {
  run_of_course run{sync_rounds()};
  run.join(4);
  run.wait(11s);
  run.wait(11s);
  const auto found = why(run.status());
  EXPECT_EQ(found.code, "no_offers");
  EXPECT_THAT(found.what, HasSubstr("2 rounds passed the deadline without an "
                                    "offer"));
}

TEST(why, names_windows_that_close_without_an_offer) {
  auto options = buffered();
  options.mode = pace_kind::semisync;
  options.window = 5s;
  run_of_course run{options};
  run.join(4);
  run.wait(1s);
  EXPECT_EQ(why(run.status()).code, "offers");
  run.wait(6s);
  run.wait(6s);
  const auto found = why(run.status());
  EXPECT_EQ(found.code, "no_offers");
  EXPECT_THAT(found.what, HasSubstr("closed without an offer"));
}

// And what is no stall.

TEST(why, says_how_far_a_buffer_is) {
  auto book = ledger_of(3);
  book.offer(offer(1));
  run_of_course run{buffered()};
  run.join(4);
  auto status = run.status();
  status.lines[line] = book.status();
  EXPECT_EQ(why(status).what,
            "version line 'model' has 1 of 3 offers; 4 visits "
            "are under way");
}

TEST(why, says_when_a_round_has_what_it_needs_and_when_its_deadline_is) {
  run_of_course run{sync_rounds()};
  run.join(4);
  run.answer(run.invited[0], verdict::accepted);
  run.now += 3s;
  const auto found = why(run.status());
  EXPECT_EQ(found.what, "round 1 has 1 of 4 offers; 3 visits are under way");
  EXPECT_EQ(found.ends, "the next offers, or the deadline in 7 s");
}

TEST(why, says_how_many_clients_the_first_invitation_waits_for) {
  run_of_course run{buffered()};
  run.join(3);
  EXPECT_EQ(why(run.status()).what,
            "the first invitation waits for 4 clients, and 3 are here");
}

TEST(why, says_when_the_run_is_over_or_has_not_begun) {
  run_status x;
  EXPECT_EQ(why(x).code, "starting");
  x.over = true;
  x.reason = "the run's length is reached";
  EXPECT_EQ(why(x).what, "the run is over: the run's length is reached");
  EXPECT_EQ(why(x).code, "nothing");
  x.reason = "interrupted";
  EXPECT_EQ(why(x).code, "interrupted") << "another process goes on with it";
}

TEST(why, suspects_the_runs_own_thread_when_no_actor_answers) {
  run_of_course run{buffered()};
  run.join(4);
  auto status = run.status();
  status.answered_ms = status.now_ms - 5'000;
  EXPECT_EQ(why(status).code, "busy");
}

// What its actors said last is of those that are gone.
TEST(why, says_that_actors_are_made_anew) {
  run_of_course run{buffered()};
  run.join(4);
  auto status = run.status();
  status.obstacle = "the disk is full";
  status.broken = "it threw";
  EXPECT_EQ(why(status).code, "rebuilding");
  EXPECT_THAT(why(status).what, HasSubstr("broke (it threw), and all of them"));
  status.over = true;
  EXPECT_EQ(why(status).code, "nothing");
}

// What it is told from.

TEST(ledger, counts_its_answers_and_how_stale_what_it_merged_was) {
  auto book = ledger_of(1);
  for (std::uint64_t k = 1; k <= 3; ++k) {
    book.offer(offer(k)); // On version 0, each.
    ASSERT_TRUE(book.next());
    book.merged({line, book.head(), first_version().blocks});
    ASSERT_TRUE(book.next());
    book.committed();
  }
  book.offer(offer(1));
  const auto x = book.status();
  EXPECT_EQ(x.answers[static_cast<std::size_t>(verdict::accepted)], 3u);
  EXPECT_EQ(x.answers[static_cast<std::size_t>(verdict::duplicate)], 1u);
  EXPECT_EQ(x.staleness.sum, 0u + 1 + 2);
  EXPECT_EQ(x.staleness.buckets[0], 1u);
  EXPECT_EQ(x.staleness.buckets[2], 1u);
}

TEST(ledger, adds_up_how_long_offers_were_pending) {
  auto book = ledger_of(3);
  book.pass(100s);
  book.offer(offer(1));
  book.pass(101s);
  book.offer(offer(2));
  book.offer(offer(2)); // Again.
  book.pass(103s);
  EXPECT_EQ(book.status().waits.count, 2u);
  EXPECT_EQ(book.status().waits.seconds, 1 + 2 * 2);
  book.drop(offer(1).visit);
  book.pass(104s);
  EXPECT_EQ(book.status().waits.seconds, 6);
}

TEST(ledger, counts_how_long_what_it_merged_was_pending) {
  auto book = ledger_of(2);
  book.pass(100s);
  book.offer(offer(1));
  book.offer(offer(3));
  book.drop(offer(3).visit); // It goes to no merge.
  book.pass(103s);
  book.offer(offer(2));
  ASSERT_TRUE(book.next());
  EXPECT_EQ(book.status().buffered.count, 2u);
  EXPECT_EQ(book.status().buffered.seconds, 3);
  book.pass(110s);
  book.failed();
  ASSERT_TRUE(book.next());
  EXPECT_EQ(book.status().buffered.count, 2u) << "they went to one before";
}

} // namespace troupe::actors::why_test
