// Offers that wait on disk: when they are said to be held, and when refused.

#include "tests/unit/actors/aggregator/ledger_fixture.hpp"

namespace troupe::actors::ledger_arrivals_test {

namespace {

using messages::drop_requested;
using messages::keep_requested;
using messages::part_held;
using messages::part_taken;

/// Two versions' offers: room for one value in memory.
struct spooling {
  bool durable = false;
  std::size_t buffer_size = 3;
  std::uint64_t values_bytes_max = sizeof(float);
  bool target_is_model = false;
};

ledger made(const spooling& x) {
  ledger::options options;
  options.line = line;
  options.blocks.resize(1);
  options.blocks[0].id = {1};
  options.buffer_size = x.buffer_size;
  options.spools = true;
  options.values_bytes_max = x.values_bytes_max;
  options.says_held = true;
  options.durable_offers = x.durable;
  options.target_is_model = x.target_is_model;
  ledger::durable found;
  found.blocks = values(0);
  return {options, found};
}

template <class T>
std::vector<T> all(const std::vector<ledger::notice>& said) {
  std::vector<T> out;
  for (const auto& x : said)
    if (const auto* one = std::get_if<T>(&x))
      out.push_back(*one);
  return out;
}

visit_id of(std::uint64_t client, std::uint64_t number = 1) {
  return {{client}, {number}};
}

messages::part_offered without_values(messages::part_offered x) {
  for (auto& block : x.blocks)
    block.delta = nullptr;
  return x;
}

} // namespace

TEST(ledger_arrivals, what_fits_waits_in_memory_and_what_does_not_on_disk) {
  auto testee = made({});
  testee.offer(offer(1, 1));
  auto said = testee.take_notices();
  EXPECT_TRUE(all<keep_requested>(said).empty());
  EXPECT_EQ(all<part_held>(said).size(), 1u);
  testee.offer(offer(2, 1));
  said = testee.take_notices();
  ASSERT_EQ(all<keep_requested>(said).size(), 1u);
  EXPECT_EQ(all<keep_requested>(said)[0].what.visit, of(2));
  // Until it is there nobody hears of it, however often it is said.
  testee.offer(offer(2, 1));
  EXPECT_TRUE(all<part_held>(said).empty());
  EXPECT_TRUE(testee.take_notices().empty());
  testee.kept(of(2));
  said = testee.take_notices();
  ASSERT_EQ(all<part_held>(said).size(), 1u);
  EXPECT_FALSE(all<part_held>(said)[0].durable);
  ASSERT_EQ(all<part_taken>(said).size(), 1u);
  EXPECT_TRUE(all<part_taken>(said)[0].on_disk);
}

TEST(ledger_arrivals, a_merge_takes_both_and_drops_what_was_on_disk) {
  auto testee = made({.buffer_size = 2});
  testee.offer(offer(1, 1));
  testee.offer(offer(2, 1));
  testee.kept(of(2));
  const auto job = due<merge_requested>(testee);
  ASSERT_EQ(job.blocks[0].terms.size(), 2u);
  EXPECT_NE(job.blocks[0].terms[0].delta, nullptr);
  EXPECT_EQ(job.blocks[0].terms[1].delta, nullptr);
  EXPECT_EQ(job.blocks[0].terms[1].visit, of(2));
  testee.merged({line, testee.head(), values(0)});
  due<commit_requested>(testee);
  EXPECT_TRUE(all<drop_requested>(testee.take_notices()).empty());
  testee.committed();
  const auto said = testee.take_notices();
  ASSERT_EQ(all<drop_requested>(said).size(), 1u);
  EXPECT_EQ(all<drop_requested>(said)[0].visits, visits{of(2)});
}

TEST(ledger_arrivals, a_disk_that_refuses_is_an_overload) {
  auto testee = made({});
  testee.offer(offer(1, 1));
  testee.offer(offer(2, 1));
  (void)testee.take_notices();
  testee.not_kept(of(2));
  // It may be there all the same, and is to be gone first.
  auto said = testee.take_notices();
  EXPECT_EQ(all<drop_requested>(said).size(), 1u);
  EXPECT_TRUE(all<messages::part_answered>(said).empty());
  testee.dropped({of(2)});
  said = testee.take_notices();
  ASSERT_EQ(all<messages::part_answered>(said).size(), 1u);
  EXPECT_EQ(all<messages::part_answered>(said)[0].verdict, verdict::overloaded);
  // Said again it is taken, by a disk that does not.
  testee.offer(offer(2, 1));
  testee.kept(of(2));
  EXPECT_EQ(all<part_held>(testee.take_notices()).size(), 1u);
}

TEST(ledger_arrivals, durable_is_said_when_it_is_there) {
  auto testee = made({.durable = true});
  testee.offer(offer(1, 1));
  auto said = testee.take_notices();
  EXPECT_EQ(all<keep_requested>(said).size(), 1u);
  EXPECT_TRUE(all<part_held>(said).empty());
  testee.kept(of(1));
  said = testee.take_notices();
  ASSERT_EQ(all<part_held>(said).size(), 1u);
  EXPECT_TRUE(all<part_held>(said)[0].durable);
  EXPECT_FALSE(all<part_taken>(said)[0].on_disk); // There is room for it, too.
}

TEST(ledger_arrivals, without_a_disk_it_is_held_and_not_durable) {
  auto testee = made({.durable = true});
  testee.offer(offer(1, 1));
  (void)testee.take_notices();
  testee.not_kept(of(1));
  const auto said = testee.take_notices();
  ASSERT_EQ(all<part_held>(said).size(), 1u);
  EXPECT_FALSE(all<part_held>(said)[0].durable);
}

TEST(ledger_arrivals, a_refusal_waits_until_it_is_gone) {
  auto testee = made({.durable = true});
  testee.offer(offer(1, 1));
  testee.kept(of(1));
  (void)testee.take_notices();
  testee.drop(of(1));
  auto said = testee.take_notices();
  EXPECT_EQ(all<drop_requested>(said).size(), 1u);
  EXPECT_TRUE(all<messages::part_answered>(said).empty());
  testee.await(of(1)); // What becomes of it is on its way.
  EXPECT_TRUE(testee.take_notices().empty());
  // While the disk has not answered, nobody asks again.
  testee.drop_again();
  EXPECT_TRUE(testee.take_notices().empty());
  testee.not_dropped({of(1)});
  testee.drop_again();
  EXPECT_EQ(all<drop_requested>(testee.take_notices()).size(), 1u);
  testee.drop_again();
  EXPECT_TRUE(testee.take_notices().empty());
  testee.dropped({of(1)});
  EXPECT_EQ(answers(testee), verdicts{verdict::withdrawn});
}

TEST(ledger_arrivals, a_line_ends_when_nothing_of_it_is_on_disk) {
  auto testee = made({.durable = true});
  testee.offer(offer(1, 1));
  testee.kept(of(1));
  testee.offer(offer(2, 1));
  testee.end();
  auto said = testee.take_notices();
  EXPECT_TRUE(all<messages::line_ended>(said).empty());
  testee.kept(of(2)); // Too late.
  testee.dropped({of(1)});
  EXPECT_TRUE(all<messages::line_ended>(testee.take_notices()).empty());
  testee.dropped({of(2)});
  said = testee.take_notices();
  EXPECT_EQ(all<messages::line_ended>(said).size(), 1u);
  EXPECT_EQ(all<messages::part_answered>(said).size(), 1u);
}

// Some of it a version has already: the process died before it dropped that.
TEST(ledger_arrivals, goes_on_with_what_the_process_before_kept) {
  ledger::options options;
  options.line = line;
  options.blocks.resize(1);
  options.blocks[0].id = {1};
  options.buffer_size = 2;
  options.spools = options.says_held = options.durable_offers = true;
  ledger::durable found;
  found.blocks = values(0);
  found.merged[{1}].insert({1});
  ledger testee{options, found};
  testee.take_up({without_values(offer(1, 1)), without_values(offer(2, 1)),
                  without_values(offer(3, 1))});
  const auto said = testee.take_notices();
  ASSERT_EQ(all<drop_requested>(said).size(), 1u);
  EXPECT_EQ(all<drop_requested>(said)[0].visits, visits{of(1)});
  EXPECT_EQ(all<part_taken>(said).size(), 2u);
  EXPECT_EQ(turn(testee), (visits{of(2), of(3)}));
}

TEST(ledger_arrivals, who_asks_hears_what_became_of_it) {
  auto testee = made({.durable = true, .buffer_size = 2});
  testee.take_up({without_values(offer(1, 1))});
  (void)testee.take_notices();
  testee.await(of(1));
  const auto said = testee.take_notices();
  ASSERT_EQ(all<part_held>(said).size(), 1u);
  EXPECT_TRUE(all<part_held>(said)[0].durable);
  // Nobody knows of this one, and none will: not of a copy either.
  testee.await(of(5));
  EXPECT_EQ(answers(testee), verdicts{verdict::withdrawn});
  EXPECT_EQ(answers_to(testee, offer(5, 1)), verdicts{verdict::withdrawn});
  testee.offer(offer(2, 1));
  testee.kept(of(2));
  (void)turn(testee);
  (void)testee.take_notices();
  testee.await(of(1));
  EXPECT_EQ(answers(testee), verdicts{verdict::duplicate});
}

TEST(ledger_arrivals, values_are_read_where_models_are_mixed) {
  auto testee =
    made({.durable = true, .buffer_size = 1, .target_is_model = true});
  testee.take_up({without_values(offer(1, 1))});
  const auto wanted = due<messages::part_wanted>(testee);
  EXPECT_EQ(wanted.visit, of(1));
  EXPECT_FALSE(testee.next());
  testee.found(offer(1, 1));
  EXPECT_NE(due<merge_requested>(testee).blocks[0].terms[0].delta, nullptr);
}

} // namespace troupe::actors::ledger_arrivals_test
