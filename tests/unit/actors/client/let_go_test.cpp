// What a client does whose server has an offer durably.

#include "actors/client/client_file.hpp"
#include "tests/unit/actors/client/talk.hpp"

namespace troupe::actors {

namespace {

void hold(talk& x, std::uint64_t number, line_id line, bool durable) {
  x.said.clear();
  x.hear(messages::offer_held{
    {me, {number}}, line, static_cast<std::uint8_t>(durable ? 1 : 0)});
}

bool keeps(const talk& x) {
  return std::ranges::any_of(x.said, [](const auto& y) {
    return std::holds_alternative<dialogue::keep>(y);
  });
}

/// The server has forgotten the session.
void meet_again(talk& x) {
  x.hear(
    messages::farewell{messages::farewell_reason::no_session, "say hello"});
  x.said.erase(x.said.begin(), x.said.end() - 1);
  x.welcome();
}

} // namespace

TEST(let_go, values_stay_until_they_are_durable) {
  talk x{state_rule::on_offer};
  x.visit(1);
  hold(x, 1, first, false);
  EXPECT_FALSE(keeps(x));
  EXPECT_EQ(x.testee.file().outbox[0].offer.blocks.size(), 2u);
  hold(x, 1, first, true);
  EXPECT_TRUE(keeps(x));
  EXPECT_EQ(blocks_of(x.testee.file().outbox[0].offer),
            std::vector<std::uint64_t>{2});
  hold(x, 1, first, true); // Once.
  EXPECT_FALSE(keeps(x));
  EXPECT_EQ(x.testee.file().outbox[0].unanswered.size(), 2u);
}

// A server that began again has forgotten it.
TEST(let_go, what_is_held_is_not_said_again_in_its_session) {
  talk x{state_rule::on_offer};
  x.visit(1);
  hold(x, 1, first, false);
  hold(x, 1, second, false);
  for (int i = 0; i < 10; ++i) {
    x.said.clear();
    x.now += std::chrono::seconds{10};
    x.did(x.testee.due(x.now));
    EXPECT_TRUE(x.all<messages::offer_made>().empty());
    EXPECT_TRUE(x.all<messages::offer_awaited>().empty());
  }
  meet_again(x);
  EXPECT_EQ(blocks_of(x.last<messages::offer_made>()),
            (std::vector<std::uint64_t>{1, 2}));
}

// Not with values, which are gone, nor with an offer of nothing.
TEST(let_go, a_server_that_began_again_is_asked) {
  talk x{state_rule::on_offer};
  x.visit(1);
  hold(x, 1, first, true);
  meet_again(x);
  EXPECT_EQ(blocks_of(x.last<messages::offer_made>()),
            std::vector<std::uint64_t>{2});
  EXPECT_EQ(x.last<messages::offer_awaited>().lines,
            std::vector<line_id>{first});
  EXPECT_EQ(x.last<messages::offer_awaited>().pass.visit, (visit_id{me, {1}}));
  hold(x, 1, first, true);
  hold(x, 1, second, true);
  meet_again(x);
  EXPECT_TRUE(x.all<messages::offer_made>().empty());
  EXPECT_EQ(x.last<messages::offer_awaited>().lines,
            (std::vector<line_id>{first, second}));
}

TEST(let_go, it_asks_until_there_is_an_answer) {
  talk x{state_rule::on_offer};
  x.visit(1);
  hold(x, 1, first, true);
  hold(x, 1, second, true);
  meet_again(x);
  for (int i = 0; i < 2; ++i) {
    x.said.clear();
    x.now += std::chrono::seconds{10};
    x.did(x.testee.due(x.now));
    EXPECT_EQ(x.all<messages::offer_awaited>().size(), 1u);
  }
  x.answer(1, first, verdict::withdrawn);
  x.said.clear();
  x.now += std::chrono::seconds{10};
  x.did(x.testee.due(x.now));
  EXPECT_EQ(x.last<messages::offer_awaited>().lines,
            std::vector<line_id>{second});
  x.answer(1, second, verdict::duplicate);
  EXPECT_TRUE(x.testee.file().outbox.empty());
}

TEST(let_go, after_a_crash_it_still_asks) {
  talk before{state_rule::on_offer};
  before.visit(1);
  hold(before, 1, first, true);
  hold(before, 1, second, true);
  talk x{state_rule::on_offer, before.testee.file()};
  x.said.clear();
  meet_again(x);
  EXPECT_EQ(x.last<messages::offer_awaited>().lines.size(), 2u);
}

// Its record may have lost what the visit trained on.
TEST(let_go, what_it_trained_on_is_said_all_the_same) {
  talk x{state_rule::on_offer};
  x.visit(1);
  hold(x, 1, first, true);
  const auto& fetched = x.testee.file().outbox[0].offer.fetched;
  ASSERT_EQ(fetched.size(), 1u);
  EXPECT_EQ(fetched[0].line, first);
  EXPECT_EQ(fetched[0].base, version{4});
}

} // namespace troupe::actors
