// When a client comes and goes.

#include "tests/unit/actors/client/talk.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;

TEST(dialogue, drops_its_visit_and_keeps_its_offers_when_it_goes) {
  talk x{state_rule::on_offer};
  x.visit(1);
  x.invite(2);
  x.said.clear();
  x.did(x.testee.go());
  EXPECT_EQ(x.all<messages::leave>().size(), 1u);
  EXPECT_FALSE(x.testee.file().open);
  EXPECT_EQ(x.testee.file().outbox.size(), 1u);
  EXPECT_FALSE(x.testee.next_due());
  // Whatever still arrives is for nobody.
  x.said.clear();
  x.invite(3);
  x.serve(2, first);
  x.did(x.testee.go());
  EXPECT_TRUE(x.said.empty());
  // The offer is said again to whoever welcomes it.
  x.did(x.testee.come(x.now));
  x.welcome();
  EXPECT_EQ(x.last<messages::offer_made>().pass.visit, (visit_id{me, {1}}));
}

TEST(dialogue, finishes_what_it_has_begun_when_it_drains) {
  talk x{state_rule::on_offer};
  x.invite(1);
  x.did(x.testee.drain());
  EXPECT_TRUE(x.all<messages::leave>().empty());
  x.visit(1);
  x.invite(2);
  EXPECT_EQ(x.last<messages::visit_declined>().why,
            messages::decline_reason::busy);
  x.answer(1, first, verdict::accepted);
  EXPECT_TRUE(x.all<messages::leave>().empty());
  x.answer(1, second, verdict::accepted);
  EXPECT_EQ(x.all<messages::leave>().size(), 1u);
}

TEST(dialogue, leaves_at_once_when_it_drains_with_nothing_under_way) {
  talk x{state_rule::on_offer};
  x.did(x.testee.drain());
  EXPECT_EQ(x.all<messages::leave>().size(), 1u);
}

TEST(dialogue, gives_a_visit_up_as_if_it_had_not_been) {
  talk x{state_rule::on_offer};
  const auto before = x.testee.file().state;
  x.invite(1);
  x.did(x.testee.give_up({me, {2}}));
  EXPECT_TRUE(x.all<messages::visit_declined>().empty());
  x.did(x.testee.give_up({me, {1}}));
  EXPECT_EQ(x.last<messages::visit_declined>().why,
            messages::decline_reason::dropped);
  EXPECT_EQ(x.testee.file().state, before);
  EXPECT_TRUE(x.testee.file().outbox.empty());
}

TEST(dialogue, lets_go_of_what_it_fetched_when_a_visit_ends) {
  for (const bool withdrawn : {false, true}) {
    talk x{state_rule::on_offer};
    std::weak_ptr<const void> fetched;
    {
      x.invite(1);
      const auto values = share({0.f});
      fetched = values.owner();
      x.hear(messages::line_served{.visit = {me, {1}},
                                   .line = first,
                                   .base = {4},
                                   .blocks = {{{1}, values}}});
    }
    EXPECT_FALSE(fetched.expired());
    if (withdrawn) {
      x.hear(messages::visit_ended{{me, {1}}});
    } else {
      x.serve(1, second);
      x.did(x.testee.finished({{me, {1}}, error{errc::diverged, "it diverged"}},
                              x.now));
    }
    x.said.clear();
    EXPECT_TRUE(fetched.expired());
  }
}

// Over a slow way the answer comes when hello has been said again.
TEST(dialogue, is_welcomed_by_the_answer_to_any_copy_of_its_hello) {
  talk x{state_rule::on_offer};
  const messages::farewell no_session{messages::farewell_reason::no_session,
                                      "say hello first"};
  x.hear(no_session);
  const auto first_said = x.last<messages::hello>();
  for (int i = 0; i < 3; ++i) {
    x.said.clear();
    x.now = *x.testee.next_due();
    x.did(x.testee.due(x.now));
    EXPECT_EQ(x.last<messages::hello>().nonce, first_said.nonce);
  }
  x.invite(1);
  x.said.clear();
  x.hear(
    messages::welcome{.nonce = first_said.nonce, .session = {4}, .heads = {}});
  EXPECT_EQ(x.all<messages::fetch_requested>().size(), 1u);
  // That to the next copy is no news.
  x.said.clear();
  x.hear(
    messages::welcome{.nonce = first_said.nonce, .session = {5}, .heads = {}});
  EXPECT_TRUE(x.said.empty());
  // After that it is another hello.
  x.hear(no_session);
  EXPECT_NE(x.last<messages::hello>().nonce, first_said.nonce);
}

// Those of a process would all come at the same instant, for ever.
TEST(dialogue, beats_a_fifth_earlier_or_later_by_a_stream_of_its_own) {
  const auto beats_of = [](std::uint64_t seed) {
    const auto method = method_of(state_rule::on_offer);
    const auto blocks = std::make_shared<models::layout>(
      *models::make_layout(method,
                           {{"a", {{.name = "w", .shape = {1}}}},
                            {"b", {{.name = "w", .shape = {1}}}}},
                           {}));
    dialogue testee{{.me = me,
                     .examples = 5,
                     .method = &method,
                     .blocks = blocks,
                     .beat_every = 30s,
                     .beat_seed = seed},
                    {}};
    instant now = 1h;
    const auto first = testee.start(now);
    const auto nonce =
      std::get<messages::hello>(std::get<messages::any_message>(first.back()))
        .nonce;
    (void)testee.heard(
      messages::welcome{.nonce = nonce, .session = {1}, .heads = {}}, now);
    std::vector<instant> out;
    for (int i = 0; i < 50; ++i) {
      const auto due = testee.next_due();
      EXPECT_TRUE(due);
      const auto apart = *due - now;
      EXPECT_GE(apart, 24s);
      EXPECT_LE(apart, 36s);
      now = *due;
      EXPECT_TRUE(testee.due(now - 1ns).empty());
      EXPECT_EQ(testee.due(now).size(), 1u);
      out.push_back(apart);
    }
    return out;
  };
  const auto one = beats_of(1);
  EXPECT_EQ(one, beats_of(1)) << "the same each time";
  EXPECT_NE(one, beats_of(2));
  const auto [least, most] = std::ranges::minmax(one);
  EXPECT_GT(most - least, 8s);
}

} // namespace troupe::actors
