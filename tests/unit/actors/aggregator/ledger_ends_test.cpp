// Offers that come late or from far behind, and what comes after the last
// version.

#include "actors/record/snapshot.hpp"
#include "tests/unit/actors/aggregator/ledger_fixture.hpp"

namespace troupe::actors {

TEST(ledger, merges_of_what_comes_late_only_what_it_has) {
  auto testee = make({.buffer_size = 2});
  auto late = offer(1, 1);
  late.late = true;
  EXPECT_EQ(answers_to(testee, late), verdicts{verdict::withdrawn});
  EXPECT_EQ(answers_to(testee, offer(1, 1)), verdicts{});
  EXPECT_EQ(answers_to(testee, late), verdicts{}); // Pending: it may be merged.
  EXPECT_EQ(answers_to(testee, offer(2, 1)), verdicts{});
  turn(testee);
  EXPECT_EQ(answers(testee), (verdicts{verdict::accepted, verdict::accepted}));
  EXPECT_EQ(answers_to(testee, late), verdicts{verdict::duplicate});
}

// Its client had 64 newer visits meanwhile: what is merged of them has closed
// it.
TEST(ledger, refuses_what_is_closed_while_it_waits) {
  constexpr auto next = 1 + policies::visit_window::size;
  auto buffers = make({.buffer_size = 2, .client_most = 1});
  buffers.offer(offer(1, next));
  buffers.offer(offer(1, 1));
  buffers.offer(offer(2, 1));
  EXPECT_EQ(turn(buffers), (visits{{{1}, {next}}, {{2}, {1}}}));
  EXPECT_EQ(answers(buffers), (verdicts{verdict::accepted, verdict::accepted,
                                        verdict::too_stale}));
  auto lists = make({.by_round = true});
  const auto window = [](std::uint64_t round, visit_id listed) {
    return messages::round_closed{
      .round = {round}, .visits = {{listed, {line}}}, .keep_late = true};
  };
  lists.offer(offer(1, 1));
  lists.offer(offer(1, next));
  lists.close(window(1, {{1}, {next}}));
  EXPECT_EQ(turn(lists), (visits{{{1}, {next}}}));
  EXPECT_EQ(answers(lists), verdicts{verdict::accepted})
    << "another list may name what waits";
  lists.close(window(2, {{1}, {1}}));
  lists.offer(offer(2, 1, 1));
  EXPECT_EQ(answers(lists), verdicts{verdict::too_stale});
  EXPECT_FALSE(lists.next());
  lists.close(window(3, {{2}, {1}}));
  EXPECT_EQ(turn(lists), (visits{{{2}, {1}}}));
}

// Its client lets go of it then: if the server is killed before the shorter
// list is stored, the next one would wait for it.
TEST(ledger, says_what_it_refuses_of_a_list_of_before_when_that_is_shorter) {
  auto testee = make({.by_round = true});
  messages::round_closed list{
    .round = {3},
    .visits = {{{{1}, {7}}, {line}}, {{{2}, {7}}, {line}}},
    .again = true};
  testee.close(list);
  EXPECT_EQ(answers(testee), verdicts{});
  auto one = offer(1, 7);
  auto two = offer(2, 7);
  one.late = two.late = true;
  testee.offer(one);
  const auto said = testee.take_notices();
  ASSERT_EQ(said.size(), 1u);
  const auto* taken = std::get_if<messages::part_taken>(&said.front());
  ASSERT_TRUE(taken) << "its director strikes it off";
  EXPECT_EQ(taken->verdict, verdict::withdrawn);
  EXPECT_EQ(answers_to(testee, one), verdicts{});
  list.visits.erase(list.visits.begin());
  testee.close(list);
  EXPECT_EQ(answers(testee), verdicts{verdict::withdrawn});
  EXPECT_EQ(answers_to(testee, two), verdicts{});
  testee.end();
  EXPECT_EQ(answers(testee), verdicts{verdict::withdrawn});
}

// A run that goes on is to say it when the unbroken one does.
TEST(ledger, goes_on_from_a_snapshot_with_a_list_of_before) {
  auto before = make({.by_round = true});
  messages::round_closed list{
    .round = {3},
    .visits = {{{{1}, {7}}, {line}}, {{{2}, {7}}, {line}}},
    .again = true};
  before.close(list);
  before.take_notices();
  snapshot_draft draft;
  draft.add("line", before);
  auto testee = make({.by_round = true});
  restore(draft.taken(), "line", testee);
  auto one = offer(1, 7);
  one.late = true;
  EXPECT_EQ(answers_to(testee, one), verdicts{});
  list.visits.erase(list.visits.begin());
  testee.close(list);
  EXPECT_EQ(answers(testee), verdicts{verdict::withdrawn});
}

// Its model began with 4.03125, which is what 4.02 was sent as.
TEST(ledger, aims_from_what_the_client_was_sent) {
  auto testee = make({.target_is_model = true, .sent = sent_as::bf16});
  testee.offer(offer(1, 1));
  due<merge_requested>(testee);
  testee.merged({line, {0}, values(4.02f)});
  due<commit_requested>(testee);
  testee.committed();
  auto next = offer(2, 1, 1);
  next.blocks[0].delta = share({0.5f});
  testee.offer(next);
  const auto job = due<merge_requested>(testee);
  const auto way = static_cast<float>(4.03125 + 0.5 - double{4.02f});
  EXPECT_EQ(*job.blocks.at(0).terms.at(0).delta, std::vector<float>{way});
}

TEST(ledger, finds_the_base_of_an_offer_in_the_store) {
  const auto at_head_9 = [] {
    ledger::options options;
    options.line = line;
    options.blocks.resize(1);
    options.blocks[0].id = {1};
    options.blocks[0].size = 1;
    options.buffer_size = 1;
    options.target_is_model = true;
    ledger::durable found;
    found.head = {9};
    found.blocks = values(5);
    return ledger{options, found};
  };
  {
    auto testee = at_head_9();
    EXPECT_EQ(answers_to(testee, offer(1, 1, 7)), verdicts{});
    const auto wanted = due<messages::version_wanted>(testee);
    EXPECT_EQ(wanted.exact, version{7});
    EXPECT_FALSE(testee.next()) << "one request at a time";
    testee.found(wanted, {messages::version_published{.line = line,
                                                      .head = {7},
                                                      .round = {},
                                                      .blocks = values(2),
                                                      .merged = {}}});
    const auto job = due<merge_requested>(testee);
    // From the head, at 5, to the client's model, at 2.
    EXPECT_EQ((*job.blocks[0].terms[0].delta)[0], -3);
  }
  auto testee = at_head_9();
  EXPECT_EQ(answers_to(testee, offer(1, 1, 7)), verdicts{});
  const auto wanted = due<messages::version_wanted>(testee);
  testee.failed(); // It is asked for again.
  EXPECT_EQ(due<messages::version_wanted>(testee).exact, version{7});
  testee.found(wanted, {});
  EXPECT_EQ(answers(testee), verdicts{verdict::withdrawn});
  EXPECT_FALSE(testee.next());
}

TEST(ledger, makes_no_version_that_the_run_has_not) {
  ledger::options options;
  options.line = line;
  options.blocks.resize(1);
  options.blocks[0].id = {1};
  options.buffer_size = 1;
  options.head_last = {1};
  ledger::durable found;
  found.blocks = values(0);
  ledger testee{options, found};
  for (const std::uint64_t client : {1, 2})
    testee.offer(offer(client, 1));
  turn(testee);
  EXPECT_FALSE(testee.next()) << "whose end is under way";
  testee.take_notices();
  testee.end();
  EXPECT_EQ(answers(testee), verdicts{verdict::withdrawn});
  EXPECT_EQ(testee.head(), version{1});
}

TEST(ledger, answers_for_a_list_of_what_is_merged_already) {
  auto testee = make({.by_round = true});
  const auto listed = [&](std::uint64_t round) {
    testee.close({.round = {round},
                  .visits = {{.visit = {{1}, {1}}, .lines = {line}}},
                  .keep_late = true});
  };
  testee.offer(offer(1, 1));
  listed(1);
  turn(testee);
  testee.take_notices();
  listed(2);
  EXPECT_FALSE(testee.next());
  bool answered = false;
  for (const auto& x : testee.take_notices())
    answered |= std::holds_alternative<messages::round_merged>(x);
  EXPECT_TRUE(answered) << "the director waits for it";
}

// However far apart the numbers of its visits are.
TEST(ledger, remembers_what_it_dropped_of_a_client) {
  auto testee = make({});
  const auto numbers = {1u, 100u, 5u, 1000u, 900u};
  for (const auto x : numbers)
    testee.drop({{1}, {x}});
  const auto is_dropped = [&](std::uint64_t x) {
    return answers_to(testee, offer(1, x)) == verdicts{verdict::withdrawn};
  };
  EXPECT_TRUE(std::ranges::all_of(numbers, is_dropped));
  for (std::uint64_t i = 0; i < policies::visit_window::size; ++i)
    testee.drop({{1}, {2000 + i}});
  EXPECT_TRUE(is_dropped(2000));
  EXPECT_FALSE(is_dropped(1)) << "there is a bound";
}

} // namespace troupe::actors
