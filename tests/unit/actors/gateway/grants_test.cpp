#include "actors/gateway/grants.hpp"

#include <gtest/gtest.h>

#include "models/layout.hpp"

namespace troupe::actors::grants_test {

namespace {

using policies::verdict;
using namespace std::chrono_literals;
using standing = grants::standing;

/// A gate for all, then chosen experts, as DDOME has it.
recipe gate_and_experts() {
  return {.name = "two_legs",
          .summary = "",
          .blocks = {{.name = "gate"},
                     {.name = "expert", .where = scope::expert, .count = 3},
                     {.name = "head", .where = scope::shared}},
          .legs = {{.fetch = {{.family = "gate"}}, .choice = {"best"}},
                   {.fetch = {{.family = "expert", .chosen = true}}}}};
}

class grants_test : public testing::Test {
protected:
  grants_test()
    : blocks(*models::make_layout(method,
                                  {{"gate", {{"w", {2}}}},
                                   {"expert", {{"w", {2}}}},
                                   {"head", {{"w", {2}}}}},
                                  {})),
      testee(method, blocks) {
    testee.invited(visit);
  }

  std::optional<verdict> fetch(std::uint32_t leg,
                               const std::vector<std::uint64_t>& lines,
                               visit_id of = {{1}, {5}},
                               std::uint32_t rank = 0) {
    messages::fetch_requested x{.pass = {}, .leg = leg, .wanted = {}};
    x.pass.visit = of;
    for (const auto line : lines)
      x.wanted.push_back({.line = {line}, .rank = rank});
    const auto found = testee.fetch(x, time);
    left = x.wanted.size();
    return found ? std::optional{found->why} : std::nullopt;
  }

  auto offer(const std::vector<std::uint64_t>& to, visit_id of = {{1}, {5}}) {
    messages::offer_made x;
    x.pass.visit = of;
    for (const auto block : to)
      x.blocks.emplace_back().block = {block};
    return testee.offer(x);
  }

  const recipe method = gate_and_experts();
  const models::layout blocks;
  const visit_id visit{{1}, {5}};
  grants testee;
  instant time = 1h;
  std::size_t left = 0; ///< Of what the last fetch wanted.
};

} // namespace

TEST_F(grants_test, lets_a_visit_fetch_its_legs_in_their_order) {
  EXPECT_EQ(fetch(1, {2}), verdict::malformed);
  EXPECT_EQ(fetch(0, {1}), std::nullopt);
  EXPECT_EQ(fetch(1, {2, 3}), std::nullopt);
  EXPECT_EQ(fetch(0, {1}), std::nullopt); // It began again.
  EXPECT_EQ(fetch(2, {1}), verdict::malformed);
}

TEST_F(grants_test, serves_lines_of_the_leg_alone_each_once_at_a_known_rank) {
  EXPECT_EQ(fetch(0, {2}), verdict::malformed);  // Of another leg.
  EXPECT_EQ(fetch(0, {5}), verdict::malformed);  // Of none.
  EXPECT_EQ(fetch(0, {99}), verdict::malformed); // There is no such line.
  EXPECT_EQ(fetch(0, std::vector<std::uint64_t>(4096, 1)), verdict::malformed);
  EXPECT_EQ(fetch(0, {1}, visit, 7), verdict::malformed);
  EXPECT_EQ(fetch(0, {1}), std::nullopt);
}

TEST_F(grants_test, serves_a_line_again_after_a_time_that_doubles) {
  const auto zero = time;
  std::vector<instant> served;
  for (; time < zero + 1min; time += 250ms) {
    EXPECT_EQ(fetch(0, {1}), std::nullopt);
    if (left > 0)
      served.push_back(time - zero);
  }
  EXPECT_EQ(served, (std::vector<instant>{0s, 4s, 12s, 28s}));
  // Another leg, or another visit, has its own time.
  EXPECT_EQ(fetch(1, {2, 3}), std::nullopt);
  EXPECT_EQ(left, 2);
  EXPECT_EQ(fetch(0, {1}), verdict::withdrawn);
  testee.invited({{1}, {6}});
  EXPECT_EQ(fetch(0, {1}, {{1}, {6}}), std::nullopt);
  EXPECT_EQ(left, 1);
}

// Under a virtual clock nobody would ask again.
TEST_F(grants_test, serves_a_client_that_came_back_at_once_but_not_for_ever) {
  for (std::uint32_t i = 0; i < grants::serves_max; ++i) {
    EXPECT_EQ(fetch(0, {1}), std::nullopt);
    EXPECT_EQ(left, 1u);
    testee.came_back({1});
  }
  EXPECT_EQ(fetch(0, {1}), verdict::withdrawn);
}

// A line that waits behind others for minutes is asked for again and again.
TEST_F(grants_test, counts_what_waits_on_its_way_once) {
  for (int i = 0; i < 20; ++i, time += 1min) {
    EXPECT_EQ(fetch(0, {1}), std::nullopt);
    EXPECT_EQ(left, 1u);
    if (i > 0)
      testee.is_served(
        {.visit = visit, .leg = 0, .line = {1}, .base = {}, .blocks = {}},
        true);
  }
  for (std::uint32_t i = 1; i < grants::serves_max; ++i, time += 1min)
    EXPECT_EQ(fetch(0, {1}), std::nullopt);
  EXPECT_EQ(fetch(0, {1}), verdict::withdrawn);
}

TEST_F(grants_test, takes_one_offer_on_a_ticket_to_what_was_fetched) {
  ASSERT_EQ(fetch(0, {1}), std::nullopt);
  ASSERT_EQ(fetch(1, {3}), std::nullopt);
  EXPECT_EQ(offer({1, 2}).error(), verdict::malformed); // It has not fetched 2.
  EXPECT_EQ(offer({1, 3}).value(), standing::first);
  EXPECT_EQ(offer({1, 3}).value(), standing::again);
  EXPECT_EQ(fetch(0, {1}), verdict::withdrawn);
  EXPECT_FALSE(testee.decline(visit));
  // Also when the client has another visit already.
  testee.invited({{1}, {6}});
  EXPECT_EQ(offer({1, 3}).value(), standing::again);
}

TEST_F(grants_test, takes_no_offer_on_a_last_visit) {
  auto ends = method;
  ends.roles = {{.procedure = {"sgd"}}};
  ends.finish = {"last"};
  testee = grants{ends, blocks};
  testee.invited(visit);
  ASSERT_EQ(fetch(0, {1}), std::nullopt);
  messages::offer_made x;
  x.pass.visit = visit;
  x.blocks.emplace_back().block = {1};
  x.pass.role = 1;
  EXPECT_EQ(testee.offer(x).error(), verdict::malformed);
  x.pass.role = 0;
  EXPECT_EQ(testee.offer(x).value(), standing::first);
  // Nor where it began before a restart.
  x.pass.visit = {{2}, {3}};
  x.pass.role = 1;
  testee.invited(x.pass.visit, true);
  EXPECT_EQ(testee.offer(x).error(), verdict::malformed);
}

TEST_F(grants_test, knows_to_which_lines_the_first_offer_was) {
  ASSERT_EQ(fetch(0, {1}), std::nullopt);
  ASSERT_EQ(fetch(1, {3}), std::nullopt);
  EXPECT_EQ(offer({1}).value(), standing::first);
  EXPECT_EQ(offer({1, 3}).value(), standing::again);
  EXPECT_TRUE(testee.is_offered(visit, {1}));
  EXPECT_FALSE(testee.is_offered(visit, {3}));
  testee.ended(visit); // It was malformed: nothing takes its place.
  EXPECT_FALSE(testee.is_offered(visit, {1}));
}

TEST_F(grants_test, writes_down_each_refusal_once) {
  ASSERT_EQ(fetch(0, {1}), std::nullopt);
  EXPECT_EQ(offer({1}).value(), standing::first);
  EXPECT_TRUE(testee.answered(visit, {1}, verdict::overloaded));
  EXPECT_FALSE(testee.answered(visit, {1}, verdict::overloaded));
  EXPECT_TRUE(testee.is_offered(visit, {1}));
  EXPECT_TRUE(testee.answered(visit, {1}, verdict::too_stale));
  EXPECT_FALSE(testee.answered(visit, {1}, verdict::withdrawn));
  EXPECT_FALSE(testee.is_offered(visit, {1}));
  EXPECT_FALSE(testee.answered(visit, {1}, verdict::duplicate));
}

TEST_F(grants_test, takes_nothing_on_a_ticket_that_was_declined) {
  ASSERT_EQ(fetch(0, {1}), std::nullopt);
  EXPECT_TRUE(testee.decline(visit));
  EXPECT_FALSE(testee.decline(visit));
  EXPECT_EQ(offer({1}).value(), standing::over);
  EXPECT_EQ(fetch(0, {1}), verdict::withdrawn);
  testee.invited(visit); // A copy of the invitation.
  EXPECT_EQ(offer({1}).value(), standing::over);
}

TEST_F(grants_test, takes_nothing_on_tickets_that_were_saved_up) {
  ASSERT_EQ(fetch(0, {1}), std::nullopt);
  testee.invited({{1}, {6}});
  testee.invited({{1}, {7}});
  EXPECT_EQ(offer({1}).value(), standing::over);
  EXPECT_EQ(offer({1}, {{1}, {6}}).value(), standing::over);
}

TEST_F(grants_test, takes_an_offer_that_was_on_its_way_to_a_withdrawn_visit) {
  ASSERT_EQ(fetch(0, {1}), std::nullopt);
  testee.withdrawn(visit);
  EXPECT_EQ(fetch(0, {1}), verdict::withdrawn);
  EXPECT_EQ(offer({1}).value(), standing::first);
}

// Each line of a record is on the disk: what is said again must not fill it.
TEST_F(grants_test, has_what_began_before_itself_noted_once) {
  const visit_id older{{2}, {3}};
  EXPECT_FALSE(testee.is_to_be_noted(older)); // Nobody spoke of it yet.
  EXPECT_EQ(fetch(0, {1}, older), std::nullopt);
  EXPECT_TRUE(testee.is_to_be_noted(older));
  EXPECT_EQ(fetch(1, {2}, older), std::nullopt);
  EXPECT_FALSE(testee.is_to_be_noted(older));
}

TEST_F(grants_test, has_a_withdrawal_noted_once) {
  EXPECT_TRUE(testee.withdrawn(visit));
  EXPECT_FALSE(testee.withdrawn(visit));
  EXPECT_TRUE(testee.withdrawn({{1}, {4}})); // In any order.
  EXPECT_TRUE(testee.withdrawn({{2}, {5}}));
  EXPECT_FALSE(testee.withdrawn({{1}, {4}}));
}

TEST_F(grants_test, has_a_refusal_of_what_it_does_not_know_noted_once) {
  const visit_id older{{2}, {3}};
  EXPECT_TRUE(testee.answered(older, {1}, policies::verdict::too_stale));
  EXPECT_FALSE(testee.answered(older, {1}, policies::verdict::too_stale));
  EXPECT_TRUE(testee.answered(older, {2}, policies::verdict::too_stale));
  for (std::uint64_t i = 0; i < 2 * grants::older_max; ++i)
    (void)testee.answered({{2}, {10 + i}}, {1}, policies::verdict::too_stale);
  EXPECT_FALSE(testee.answered({{2}, {9}}, {1}, policies::verdict::too_stale));
}

TEST_F(grants_test, does_not_judge_a_visit_that_is_older_than_itself) {
  const visit_id older{{2}, {3}};
  testee.invited(older, true);
  EXPECT_EQ(fetch(1, {2}, older), std::nullopt); // It may be at its last leg,
  EXPECT_EQ(offer({1, 3}, older).value(), standing::first); // with the others.
  // Nor one of which nobody told it, or of which another knew.
  testee.invited({{2}, {5}});
  EXPECT_EQ(offer({1, 3}, {{2}, {4}}).value(), standing::first);
  testee.invited({{2}, {6}});
  EXPECT_EQ(offer({1, 3}, {{2}, {5}}).value(), standing::over);
  testee.invited({{2}, {7}});
  EXPECT_EQ(fetch(1, {2}, {{2}, {7}}), verdict::malformed);
}

// What was before a restart is not known; what is said from then on is, also by
// whom nobody was invited since.
TEST_F(grants_test, remembers_what_is_said_on_visits_from_before_a_restart) {
  for (const std::uint64_t client : {1, 2}) {
    const visit_id x{{client}, {4}};
    int served = 0;
    for (int i = 0; i < 100; ++i, time += 1min)
      served += fetch(0, {1}, x) == std::nullopt && left > 0;
    EXPECT_EQ(served, 4);
    EXPECT_EQ(fetch(0, {1, 1}, x), verdict::malformed);
    EXPECT_EQ(offer({1, 3}, x).value(), standing::first);
    EXPECT_TRUE(testee.is_offered(x, {1}));
    EXPECT_FALSE(testee.is_offered(x, {2}));
    EXPECT_EQ(offer({2}, x).value(), standing::again);
    EXPECT_TRUE(testee.answered(x, {1}, verdict::too_stale));
    EXPECT_FALSE(testee.answered(x, {1}, verdict::too_stale)) << "once";
    EXPECT_FALSE(testee.decline(x)) << "it offered";
    EXPECT_EQ(fetch(0, {1}, x), verdict::withdrawn);
    const visit_id declined{{client}, {3}};
    EXPECT_TRUE(testee.decline(declined));
    EXPECT_FALSE(testee.decline(declined));
    EXPECT_EQ(offer({1}, declined).value(), standing::over);
  }
}

// A question is small and overtakes the offer that was said before it.
TEST_F(grants_test, takes_the_rest_of_an_offer_behind_a_question_after_it) {
  const visit_id older{{2}, {3}};
  messages::offer_awaited x{.pass = {}, .lines = {{3}}};
  x.pass.visit = older;
  EXPECT_EQ(testee.await(x).size(), 1U);
  EXPECT_FALSE(testee.decline(older)) << "it offered";
  EXPECT_EQ(fetch(0, {1}, older), verdict::withdrawn);
  EXPECT_EQ(offer({1}, older).value(), standing::first);
  EXPECT_TRUE(testee.is_offered(older, {1}));
  EXPECT_TRUE(testee.is_offered(older, {3}));
  EXPECT_EQ(testee.await(x).size(), 1U);
  EXPECT_EQ(offer({1}, older).value(), standing::again);
  EXPECT_TRUE(testee.answered(older, {3}, verdict::too_stale));
  EXPECT_FALSE(testee.answered(older, {3}, verdict::too_stale)) << "once";
}

TEST_F(grants_test, shuts_a_visit_once_and_leaves_its_offer_be) {
  const visit_id older{{2}, {3}};
  for (const auto x : {visit, older}) {
    EXPECT_EQ(fetch(0, {1}, x), std::nullopt);
    EXPECT_TRUE(testee.shut(x));
    EXPECT_FALSE(testee.shut(x)) << "once";
    EXPECT_EQ(fetch(0, {1}, x), verdict::withdrawn);
    EXPECT_EQ(offer({1}, x).value(), standing::first);
    EXPECT_FALSE(testee.shut(x));
  }
  EXPECT_FALSE(testee.shut({{1}, {6}})) << "nobody was given it";
  testee.invited({{1}, {7}});
  EXPECT_FALSE(testee.shut(visit)) << "there is a newer one";
}

// A copy of the folder was put back: that number has other values now.
TEST_F(grants_test, takes_nothing_of_before_on_a_version_that_is_lost) {
  grants copied{method, blocks, {{{1}, {4}}, {{2}, {4}}, {{3}, {4}}}};
  std::set<visit_id> over;
  const auto offer_on = [&](visit_id of, version base) {
    messages::offer_made x;
    x.pass.visit = of;
    x.blocks.emplace_back().block = {1};
    x.blocks.back().base = base;
    const auto can_be = base <= version{4} || of.client.value == 3;
    EXPECT_EQ(copied.is_first(x), can_be && !over.contains(of));
    over.insert(of);
    return copied.offer(x).value();
  };
  EXPECT_EQ(offer_on({{2}, {7}}, {5}), grants::standing::lost);
  EXPECT_EQ(offer_on({{2}, {7}}, {4}), grants::standing::over) << "it was that";
  EXPECT_EQ(offer_on({{2}, {8}}, {4}), grants::standing::first);
  messages::offer_made chosen; // By what it saw of another line.
  chosen.pass.visit = {{2}, {9}};
  chosen.blocks.emplace_back().block = {1};
  chosen.fetched = {{{2}, {5}}};
  EXPECT_EQ(copied.offer(chosen).value(), grants::standing::lost);
  messages::fetch_requested x;
  x.pass.visit = {{3}, {7}};
  x.wanted.emplace_back().line = {1};
  EXPECT_FALSE(copied.fetch(x, {}));
  copied.is_served(
    {.visit = x.pass.visit, .leg = 0, .line = {1}, .base = {5}, .blocks = {}},
    false);
  EXPECT_EQ(offer_on({{3}, {7}}, {5}), grants::standing::first)
    << "it was served that by this process";
  x.pass.visit = {{2}, {10}};
  EXPECT_FALSE(copied.fetch(x, {}));
  copied.is_served(
    {.visit = x.pass.visit, .leg = 0, .line = {1}, .base = {5}, .blocks = {}},
    false);
  EXPECT_EQ(offer_on({{2}, {10}}, {6}), grants::standing::lost);
}

TEST_F(grants_test, remembers_as_many_of_them_as_a_client_may_have) {
  for (std::uint64_t i = 0; i < grants::older_max; ++i)
    EXPECT_EQ(offer({1}, {{2}, {100 + i}}).value(), standing::first);
  EXPECT_EQ(offer({1}, {{2}, {99}}).value(), standing::over);
  EXPECT_EQ(fetch(0, {1}, {{2}, {98}}), verdict::withdrawn);
  EXPECT_FALSE(testee.decline({{2}, {97}}));
  EXPECT_EQ(offer({1}, {{2}, {104}}).value(), standing::again);
}

TEST_F(grants_test, of_who_is_denied_are_over_and_say_what_was_offered) {
  EXPECT_EQ(fetch(0, {1}), std::nullopt);
  EXPECT_EQ(fetch(1, {2}), std::nullopt);
  EXPECT_TRUE(offer({1, 2}));
  testee.invited({{1}, {6}});
  EXPECT_EQ(testee.voided({1}), std::vector{visit});
  EXPECT_EQ(testee.voided({2}), std::vector<visit_id>{}) << "nobody knows it";
  EXPECT_EQ(fetch(0, {1}, {{1}, {6}}), verdict::withdrawn);
}

// Another process took them.
TEST_F(grants_test, say_what_was_offered_before_a_restart_once) {
  grants after{method, blocks, {}, {{{1}, {3}}, {{1}, {9}}, {{2}, {4}}}};
  EXPECT_EQ(after.voided({1}), (std::vector<visit_id>{{{1}, {3}}, {{1}, {9}}}));
  EXPECT_TRUE(after.voided({1}).empty());
  EXPECT_EQ(after.voided({2}), (std::vector<visit_id>{{{2}, {4}}}));
}

} // namespace troupe::actors::grants_test
