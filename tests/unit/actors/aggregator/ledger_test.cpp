#include "actors/kernel_worker/merge.hpp"
#include "core/limits.hpp"
#include "tests/unit/actors/aggregator/ledger_fixture.hpp"

namespace troupe::actors {

TEST(ledger, says_accepted_with_the_version_and_not_before) {
  auto testee = make({});
  EXPECT_EQ(answers_to(testee, offer(1, 1)), verdicts{});
  merge(testee);
  EXPECT_EQ(answers(testee), verdicts{});
  due<commit_requested>(testee);
  EXPECT_EQ(answers(testee), verdicts{});
  testee.committed();
  EXPECT_EQ(answers(testee), verdicts{verdict::accepted});
}

TEST(ledger, keeps_a_resend_of_what_is_pending_only_once) {
  auto testee = make({.buffer_size = 2});
  EXPECT_EQ(answers_to(testee, offer(1, 1)), verdicts{});
  EXPECT_EQ(answers_to(testee, offer(1, 1)), verdicts{});
  EXPECT_FALSE(testee.next()) << "one offer is not a batch of two";
  testee.offer(offer(1, 2));
  EXPECT_EQ(turn(testee), (visits{{{1}, {1}}, {{1}, {2}}}));
  answers(testee);
  EXPECT_EQ(answers_to(testee, offer(1, 1)), verdicts{verdict::duplicate});
}

TEST(ledger, lets_no_more_wait_than_its_limit) {
  auto testee = make({.admission = {.pending_max = 2}, .buffer_size = 2});
  testee.offer(offer(1, 1));
  testee.offer(offer(2, 1));
  EXPECT_EQ(answers_to(testee, offer(3, 1)), verdicts{verdict::overloaded});
  merge(testee); // What is being merged is still here.
  EXPECT_EQ(answers_to(testee, offer(3, 1)), verdicts{verdict::overloaded});
  due<commit_requested>(testee);
  testee.committed();
  answers(testee);
  EXPECT_EQ(answers_to(testee, offer(3, 1)), verdicts{});
}

// The record has what was offered first.
TEST(ledger, takes_of_what_it_turned_away_only_the_same_again) {
  auto testee = make({.admission = {.pending_max = 1}});
  testee.offer(offer(1, 1));
  EXPECT_EQ(answers_to(testee, offer(2, 1)), verdicts{verdict::overloaded});
  turn(testee);
  answers(testee);
  auto other = offer(2, 1);
  other.blocks.front().delta = share({1.f});
  EXPECT_EQ(answers_to(testee, other), verdicts{verdict::malformed});
  EXPECT_EQ(answers_to(testee, offer(2, 1)), verdicts{});
}

TEST(ledger, takes_nothing_else_for_what_was_too_stale) {
  auto testee = make({.admission = {.staleness_max = 0}});
  for (std::uint64_t n = 1; n <= 2; ++n) {
    testee.offer(offer(1, n, n - 1));
    turn(testee);
  }
  answers(testee);
  EXPECT_EQ(answers_to(testee, offer(2, 1, 1)), verdicts{verdict::too_stale});
  EXPECT_EQ(answers_to(testee, offer(2, 1, 2)), verdicts{verdict::malformed});
}

// Or whoever offers most has a version for itself.
TEST(ledger, takes_of_a_client_no_more_than_its_share_of_a_batch) {
  auto testee = make({.buffer_size = 3, .client_most = 1});
  for (std::uint64_t n = 1; n <= 5; ++n)
    testee.offer(offer(1, n));
  testee.offer(offer(2, 1));
  EXPECT_FALSE(testee.next());
  testee.offer(offer(3, 1));
  EXPECT_EQ(turn(testee), (visits{{{1}, {1}}, {{2}, {1}}, {{3}, {1}}}));
  EXPECT_FALSE(testee.next()) << "the others wait";
  testee.offer(offer(2, 2));
  testee.offer(offer(3, 2));
  EXPECT_EQ(turn(testee), (visits{{{1}, {2}}, {{2}, {2}}, {{3}, {2}}}));
}

TEST(ledger, keeps_of_a_client_with_a_share_what_an_honest_one_may_have) {
  auto testee = make({.buffer_size = 20, .client_most = 10});
  for (std::uint64_t n = 1; n <= limits::outbox_offers_max; ++n)
    EXPECT_EQ(answers_to(testee, offer(1, n)), verdicts{});
  EXPECT_EQ(answers_to(testee, offer(1, 99)), verdicts{verdict::overloaded});
  EXPECT_EQ(answers_to(testee, offer(2, 1)), verdicts{});
}

TEST(ledger, does_a_failed_merge_over_with_the_same_offers_first) {
  auto testee = make({.buffer_size = 2});
  testee.offer(offer(2, 1));
  testee.offer(offer(3, 1));
  due<merge_requested>(testee);
  testee.offer(offer(1, 1));
  testee.failed();
  EXPECT_EQ(turn(testee), (visits{{{2}, {1}}, {{3}, {1}}}));
}

TEST(ledger, repeats_a_failed_commit_as_it_was) {
  auto testee = make({});
  testee.offer(offer(1, 1));
  merge(testee);
  const auto first = due<commit_requested>(testee);
  testee.failed();
  testee.offer(offer(2, 1));
  const auto second = due<commit_requested>(testee);
  EXPECT_EQ(second.head, first.head);
  EXPECT_EQ(second.merged, first.merged);
  EXPECT_EQ(second.blocks[0].values, first.blocks[0].values);
}

TEST(ledger, refuses_what_is_too_many_versions_behind) {
  auto testee = make({.admission = {.staleness_max = 1}});
  for (std::uint64_t i = 1; i <= 2; ++i) {
    testee.offer(offer(1, i, i - 1));
    turn(testee);
  }
  answers(testee);
  EXPECT_EQ(answers_to(testee, offer(2, 1, 0)), verdicts{verdict::too_stale});
  EXPECT_EQ(answers_to(testee, offer(2, 2, 1)), verdicts{});
  EXPECT_EQ(answers_to(testee, offer(2, 3, 3)), verdicts{verdict::malformed})
    << "a base that nobody has published";
}

TEST(ledger, refuses_what_became_too_stale_while_it_waited) {
  auto testee = make({.admission = {.staleness_max = 0}, .buffer_size = 2});
  testee.offer(offer(1, 1));
  testee.offer(offer(2, 1));
  merge(testee);
  EXPECT_EQ(answers_to(testee, offer(3, 1)), verdicts{}) << "fresh as yet";
  due<commit_requested>(testee);
  testee.committed();
  EXPECT_EQ(answers(testee), (verdicts{verdict::accepted, verdict::accepted,
                                       verdict::too_stale}));
}

TEST(ledger, waits_for_no_listed_part_that_became_too_stale) {
  auto testee = make({.admission = {.staleness_max = 0}, .by_round = true});
  const auto window = [](std::uint64_t round,
                         const std::vector<visit_id>& listed) {
    messages::round_closed x{.round = {round}, .visits = {}, .keep_late = true};
    for (const auto& visit : listed)
      x.visits.push_back({visit, {line}});
    return x;
  };
  testee.offer(offer(1, 1));
  testee.offer(offer(2, 1));
  testee.close(window(1, {{{1}, {1}}}));
  EXPECT_EQ(turn(testee), (visits{{{1}, {1}}}));
  EXPECT_EQ(answers(testee), verdicts{verdict::accepted})
    << "another list may name what waits";
  testee.offer(offer(3, 1, 1));
  testee.close(window(2, {{{2}, {1}}, {{3}, {1}}}));
  EXPECT_EQ(answers(testee), verdicts{verdict::too_stale});
  EXPECT_EQ(turn(testee), (visits{{{3}, {1}}}));
}

TEST(ledger, discounts_an_offer_by_the_versions_that_it_is_behind) {
  auto testee =
    make({.discount = policies::polynomial_discount{.exponent = 0.5}});
  for (std::uint64_t i = 1; i <= 3; ++i) {
    testee.offer(offer(1, i, i - 1));
    turn(testee);
  }
  auto stale = offer(2, 1, 0); // Three behind: (1 + 3)^(-1/2) = 1/2.
  stale.blocks[0].weight = 6;
  testee.offer(stale);
  const auto job = due<merge_requested>(testee);
  ASSERT_EQ(job.blocks.at(0).terms.size(), 1u);
  EXPECT_EQ(job.blocks[0].terms[0].weight, 6);
  EXPECT_EQ(job.blocks[0].terms[0].discount, 0.5);
}

// A weight compares offers, and one alone has nothing to be compared with: it
// must not be mixed in whole for a share that is next to nothing.
TEST(ledger, moves_by_the_share_of_an_offer_that_makes_a_version_alone) {
  models::layout blocks;
  auto& block = blocks.blocks.emplace_back();
  block.id = {1};
  block.line = line;
  block.size = 1;
  block.weight = weight_rule::examples_times_share;
  block.grid = kernels::grid_for(100, 8);
  const auto arithmetic = kernels::make_backend({});
  const auto merged = [&](std::size_t buffer_size, bool by_round,
                          std::vector<double> shares) {
    ledger::options how;
    how.line = line;
    how.blocks = blocks.blocks;
    how.step.rate = 0.5;
    how.buffer_size = buffer_size;
    how.by_round = by_round;
    ledger::durable head;
    head.blocks = values(1);
    std::vector<messages::part_offered> batch;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      auto part = offer(i + 1, 1, 0);
      part.blocks = {{{1}, 0, 50 * shares[i], share({4}), shares[i]}};
      batch.push_back(std::move(part));
    }
    const auto made =
      merge(**arithmetic, blocks, merge_of(how, head, batch, {}));
    EXPECT_TRUE(made) << made.error().context;
    return made->blocks.at(0).values->front();
  };
  EXPECT_FLOAT_EQ(merged(1, false, {0.25}), 1 + 0.5 * 0.25 * 4);
  EXPECT_FLOAT_EQ(merged(1, false, {1}), 1 + 0.5 * 4);
  // Where several are merged, or a round decides, it is the published mean.
  EXPECT_FLOAT_EQ(merged(2, false, {0.25, 0.5}), 1 + 0.5 * 4);
  EXPECT_FLOAT_EQ(merged(1, true, {0.25}), 1 + 0.5 * 4);
}

TEST(ledger, aims_at_the_head_anew_when_models_are_mixed_and_a_merge_fails) {
  auto testee = make({.target_is_model = true});
  testee.offer(offer(1, 1));
  due<merge_requested>(testee);
  testee.merged({line, {0}, values(4)});
  due<commit_requested>(testee);
  testee.committed();
  auto late = offer(2, 1, 0);
  late.blocks[0].delta = share({1.f});
  testee.offer(late); // Its model is 0 + 1, the head is 4: the way is -3.
  for (int i = 0; i < 2; ++i) {
    const auto job = due<merge_requested>(testee);
    EXPECT_EQ(*job.blocks.at(0).terms.at(0).delta, std::vector<float>{-3});
    testee.failed();
  }
}

TEST(ledger, merges_exactly_its_part_of_a_rounds_list) {
  auto testee = make({.by_round = true});
  for (std::uint64_t client = 1; client <= 3; ++client) {
    auto x = offer(client, 1);
    x.round = {1};
    testee.offer(x);
  }
  EXPECT_FALSE(testee.next()) << "no list is there yet";
  answers(testee);
  testee.close(
    {.round = {1}, .visits = {{{{1}, {1}}, {line}}, {{{3}, {1}}, {line}}}});
  EXPECT_EQ(answers(testee), verdicts{verdict::withdrawn});
  EXPECT_EQ(turn(testee), (visits{{{1}, {1}}, {{3}, {1}}}));
}

// As after a restart, when its clients may have them no more.
TEST(ledger, says_what_it_has_not_of_a_rounds_list) {
  auto testee = make({.by_round = true});
  testee.offer(offer(1, 1));
  testee.take_notices();
  const auto lacks = [&] {
    std::vector<visits> all;
    for (const auto& x : testee.take_notices())
      if (const auto* lacked = std::get_if<messages::parts_lacked>(&x))
        all.push_back(lacked->visits);
    return all;
  };
  testee.close({.round = {1},
                .visits = {{{{1}, {1}}, {line}},
                           {{{2}, {1}}, {line}},
                           {{{3}, {1}}, {line_id{9}}}}});
  const auto said = lacks();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0], (visits{{{2}, {1}}}));
  testee.offer(offer(2, 1));
  EXPECT_TRUE(lacks().empty());
  EXPECT_EQ(turn(testee), (visits{{{1}, {1}}, {{2}, {1}}}));
}

// Whoever asks after it has no values of it any more.
TEST(ledger, says_of_what_it_was_asked_in_vain_that_it_takes_it_no_more) {
  auto testee = make({.by_round = true});
  const auto lacks = [&] {
    std::vector<std::pair<visits, visits>> all;
    for (const auto& x : testee.take_notices())
      if (const auto* lacked = std::get_if<messages::parts_lacked>(&x))
        all.emplace_back(lacked->visits, lacked->refused);
    return all;
  };
  const visit_id before{{1}, {1}}, later{{2}, {1}};
  testee.await(before);
  EXPECT_TRUE(lacks().empty()) << "there is no list";
  testee.close({.round = {1}, .visits = {{before, {line}}, {later, {line}}}});
  auto said = lacks();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0], std::pair(visits{before, later}, visits{before}));
  testee.await(later);
  said = lacks();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0], std::pair(visits{later}, visits{later}));
  testee.await({{3}, {1}}); // On no list.
  EXPECT_TRUE(lacks().empty());
}

TEST(ledger, ends_nothing_because_of_a_number_that_was_never_given) {
  auto testee = make({.by_round = true});
  const visit_id real{{1}, {1}}, made_up{{1}, {1000}};
  testee.await(made_up);
  EXPECT_EQ(answers(testee), verdicts{verdict::withdrawn});
  EXPECT_EQ(answers_to(testee, offer(1, 1000)), verdicts{verdict::withdrawn});
  testee.close({.round = {1}, .visits = {{real, {line}}}});
  EXPECT_EQ(answers_to(testee, offer(1, 1)), verdicts{}) << "it is withdrawn";
  EXPECT_EQ(turn(testee), visits{real});
}

// Its director struck it when it was on its way.
TEST(ledger, merges_what_it_has_of_a_list_as_it_was) {
  for (const bool keep_late : {false, true}) {
    auto testee = make({.by_round = true});
    const visit_id came{{1}, {1}}, here{{2}, {1}}, gone{{3}, {1}};
    testee.close({.round = {1},
                  .visits = {{came, {line}}, {here, {line}}, {gone, {line}}},
                  .keep_late = keep_late});
    testee.offer(offer(1, 1));
    testee.offer(offer(2, 1));
    EXPECT_FALSE(testee.next());
    testee.close({.round = {1},
                  .visits = {{came, {line_id{9}}}, {here, {line}}},
                  .keep_late = keep_late});
    EXPECT_EQ(answers(testee), verdicts{});
    EXPECT_EQ(turn(testee), (visits{came, here}));
  }
}

TEST(ledger, drops_what_no_list_will_name_and_nothing_that_one_does) {
  auto testee = make({.by_round = true});
  testee.offer(offer(1, 1));
  testee.offer(offer(2, 1));
  testee.close(
    {.round = {1}, .visits = {{{{1}, {1}}, {line}}}, .keep_late = true});
  answers(testee);
  for (std::uint64_t client = 1; client <= 3; ++client)
    testee.drop({{client}, {1}});
  EXPECT_EQ(answers(testee), verdicts{verdict::withdrawn});
  EXPECT_EQ(turn(testee), (visits{{{1}, {1}}}));
}

// The answer may cross the same offer, said again.
TEST(ledger, does_not_take_what_it_has_dropped) {
  auto testee = make({.buffer_size = 2});
  testee.offer(offer(1, 1));
  testee.drop({{1}, {1}});
  testee.drop({{2}, {1}}); // Of which it has nothing yet.
  EXPECT_EQ(answers(testee), verdicts{verdict::withdrawn});
  EXPECT_EQ(answers_to(testee, offer(1, 1)), verdicts{verdict::withdrawn});
  EXPECT_EQ(answers_to(testee, offer(2, 1)), verdicts{verdict::withdrawn});
  testee.offer(offer(1, 2));
  testee.offer(offer(2, 2));
  EXPECT_EQ(turn(testee), (visits{{{1}, {2}}, {{2}, {2}}}));
  testee.drop({{1}, {2}}); // What is merged stays so.
  answers(testee);
  EXPECT_EQ(answers_to(testee, offer(1, 2)), verdicts{verdict::duplicate});
}

TEST(ledger, merges_a_round_once_however_often_it_is_closed) {
  auto testee = make({.by_round = true});
  auto x = offer(1, 1);
  x.round = {1};
  testee.offer(x);
  const messages::round_closed list{.round = {1},
                                    .visits = {{{{1}, {1}}, {line}}}};
  testee.close(list);
  merge(testee);
  testee.close(list);
  due<commit_requested>(testee);
  testee.committed();
  testee.take_notices();
  testee.close(list);
  EXPECT_FALSE(testee.next());
  const auto said = testee.take_notices();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(std::get<messages::round_merged>(said[0]).head, version{1});
}

TEST(ledger, finishes_what_is_being_merged_before_it_ends) {
  auto testee = make({});
  testee.offer(offer(1, 1));
  merge(testee);
  testee.offer(offer(2, 1));
  testee.end();
  EXPECT_EQ(answers(testee), verdicts{verdict::withdrawn});
  due<commit_requested>(testee);
  testee.committed();
  const auto said = testee.take_notices();
  EXPECT_TRUE(std::holds_alternative<messages::line_ended>(said.back()));
  EXPECT_EQ(answers_to(testee, offer(3, 1)), verdicts{verdict::withdrawn});
}

} // namespace troupe::actors
