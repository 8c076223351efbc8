#include "actors/record/store.hpp"

#include "tests/unit/actors/record/store_fixture.hpp"

namespace troupe::actors {

namespace {

/// What holds for every store.
class store_test : public folder_test,
                   public testing::WithParamInterface<bool> {
protected:
  store_test() : testee(GetParam() ? opened() : make_memory_store({})) {
    // nop
  }

  stored_node loaded() {
    auto x = testee->load();
    EXPECT_TRUE(x) << x.error().context;
    return x.value_or(stored_node{});
  }

  std::unique_ptr<store> testee;
};

} // namespace

TEST_P(store_test, a_new_one_has_no_lines) {
  EXPECT_TRUE(loaded().lines.empty());
  EXPECT_TRUE(loaded().clients.empty());
  EXPECT_EQ(loaded().index_upto, 0u);
}

TEST_P(store_test, gives_back_what_was_committed) {
  ASSERT_TRUE(testee->begin(one_line, version_of(0).blocks));
  ASSERT_TRUE(testee->begin({2}, {block(9, {})}));
  EXPECT_EQ(loaded().lines.at(one_line).head, version{0});
  for (const std::uint64_t n : {1, 2})
    ASSERT_TRUE(testee->commit(version_of(n)));
  const auto node = loaded();
  ASSERT_EQ(node.lines.size(), 2u);
  const auto& line = node.lines.at(one_line);
  EXPECT_EQ(line.head, version{2});
  EXPECT_EQ(line.round, round_number{2});
  expect_equal(line.blocks, version_of(2).blocks);
  const policies::visit_windows wanted{{{3}, {visit_number{2}, 0b11}},
                                       {{7}, {visit_number{4}, 0b101}}};
  EXPECT_EQ(line.merged, wanted);
  expect_equal(node.lines.at({2}).blocks, {block(9, {})});
}

TEST_P(store_test, knows_after_a_restart_how_the_run_has_gone) {
  ASSERT_TRUE(testee->begin(one_line, version_of(0).blocks));
  ASSERT_TRUE(testee->begin({2}, {block(9, {})}));
  ASSERT_TRUE(testee->commit(version_of(1)));
  // The same visits offer to the other line, in the same round.
  auto same = version_of(1);
  same.line = {2};
  same.blocks = {block(9, {})};
  ASSERT_TRUE(testee->commit(same));
  EXPECT_EQ(loaded().updates, version_of(1).merged.size());
  ASSERT_TRUE(testee->commit(version_of(2)));
  EXPECT_EQ(loaded().updates,
            version_of(1).merged.size() + version_of(2).merged.size());
  EXPECT_EQ(loaded().fruitful, 2u);
  messages::save_requested save;
  save.round = messages::round_record{.round = version_of(2).round};
  save.clients = {{{3}, 10, 32, 5, 0.25}, {{4}, 10, 32, 0, std::nullopt}};
  save.stopper = policies::stopper_state{.best = 0.75, .since_best = 2};
  ASSERT_TRUE(testee->save(save));
  const auto node = loaded();
  EXPECT_EQ(node.fruitful, 1u) << "the round that is under way does not count";
  EXPECT_EQ(node.clients.at({3}).times_chosen, 5u);
  EXPECT_EQ(node.clients.at({3}).loss, 0.25);
  EXPECT_EQ(node.clients.at({4}).loss, std::nullopt);
  EXPECT_EQ(node.stopper.best, 0.75);
  EXPECT_EQ(node.stopper.since_best, 2u);
}

TEST_P(store_test, knows_after_a_restart_who_had_a_last_visit) {
  EXPECT_EQ(loaded().end, messages::course_end::none);
  messages::save_requested save;
  save.index_upto = 40;
  save.end = messages::course_end::target;
  ASSERT_TRUE(testee->save(save));
  save.end = messages::course_end::none;
  save.last_visits = {{{3}, {7}}, {{12}, {4}}};
  ASSERT_TRUE(testee->save(save));
  ASSERT_TRUE(testee->save(save)); // As after one that was not answered.
  const auto node = loaded();
  EXPECT_EQ(node.end, messages::course_end::target);
  EXPECT_EQ(node.had_last, (std::set<client_id>{{3}, {12}}));
  EXPECT_EQ(node.index_upto, 40u);
}

TEST_P(store_test, a_line_that_is_there_does_not_begin_anew) {
  ASSERT_TRUE(testee->begin(one_line, version_of(0).blocks));
  ASSERT_TRUE(testee->commit(version_of(1)));
  ASSERT_TRUE(testee->begin(one_line, version_of(5).blocks));
  expect_equal(loaded().lines.at(one_line).blocks, version_of(1).blocks);
}

TEST_P(store_test, the_same_commit_again_changes_nothing) {
  ASSERT_TRUE(testee->begin(one_line, version_of(0).blocks));
  ASSERT_TRUE(testee->commit(version_of(1)));
  const auto before = loaded().lines.at(one_line);
  ASSERT_TRUE(testee->commit(version_of(1)));
  EXPECT_EQ(loaded().lines.at(one_line).head, before.head);
  EXPECT_EQ(loaded().lines.at(one_line).merged, before.merged);
}

TEST_P(store_test, refuses_a_gap_a_step_back_and_an_unknown_line) {
  ASSERT_TRUE(testee->begin(one_line, version_of(0).blocks));
  ASSERT_TRUE(testee->commit(version_of(1)));
  ASSERT_TRUE(testee->commit(version_of(2)));
  auto elsewhere = version_of(1);
  elsewhere.line = {4};
  for (const auto& x : {version_of(4), version_of(1), elsewhere}) {
    const auto done = testee->commit(x);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, errc::storage_failure);
  }
  EXPECT_TRUE(testee->commit(version_of(3)));
}

TEST_P(store_test, all_64_bits_of_a_number_survive) {
  ASSERT_TRUE(testee->begin(one_line, {block(1, {1})}));
  messages::commit_requested x{.line = one_line,
                               .head = {},
                               .round = {},
                               .blocks = {block(1, {2})},
                               .merged = {}};
  const client_id client{~std::uint64_t{0}};
  policies::visit_window wanted;
  for (std::uint64_t n = 1; n <= 64; ++n) {
    x.head = {n};
    x.merged = {{client, {n}}};
    wanted.insert({n});
    ASSERT_TRUE(testee->commit(x));
  }
  EXPECT_EQ(loaded().lines.at(one_line).merged.at(client), wanted);
}

TEST_P(store_test, saves_what_is_there_and_keeps_what_is_absent) {
  const messages::round_record round{
    .round = {5},
    .closed = 1,
    .cohort = {{.visit = {{1}, {2}}, .progress = 0.25}},
    .visits = {{{{1}, {2}}, {{1}, {2}}}}};
  ASSERT_TRUE(testee->save({.token = 1,
                            .clients = {{{1}, 600, 32}, {{2}, 10, 32}},
                            .index_upto = 4096,
                            .round = round}));
  ASSERT_TRUE(testee->save(
    {.token = 2, .clients = {{{2}, 10, 64}}, .index_upto = 0, .round = {}}));
  const auto node = loaded();
  EXPECT_EQ(node.clients.at({1}).examples, 600u);
  EXPECT_EQ(node.clients.at({2}).numbers_upto, 64u);
  EXPECT_EQ(node.index_upto, 4096u);
  EXPECT_EQ(node.round.round, round_number{5});
  EXPECT_EQ(node.round.closed, 1);
  EXPECT_EQ(node.round.cohort, round.cohort);
  ASSERT_EQ(node.round.visits.size(), 1u);
  EXPECT_EQ(node.round.visits[0].lines, round.visits[0].lines);
}

INSTANTIATE_TEST_SUITE_P(stores, store_test, testing::Bool(),
                         [](const auto& x) {
                           return x.param ? "sqlite" : "memory";
                         });

} // namespace troupe::actors
