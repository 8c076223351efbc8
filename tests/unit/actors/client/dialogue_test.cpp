#include <limits>

#include "tests/unit/actors/client/talk.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;

TEST(dialogue, trains_once_however_often_it_is_invited_and_served) {
  talk x{state_rule::on_offer};
  for (int i = 0; i < 2; ++i)
    x.invite(1);
  EXPECT_EQ(x.all<messages::fetch_requested>().size(), 1u);
  for (int i = 0; i < 2; ++i) {
    x.serve(1, first);
    x.serve(1, second);
  }
  EXPECT_EQ(x.all<dialogue::job>().size(), 1u);
}

TEST(dialogue, offers_once_however_often_the_job_ends) {
  talk x{state_rule::on_offer};
  x.visit(1);
  x.did(x.testee.finished({{me, {1}}, models::trained{}}, x.now));
  EXPECT_EQ(x.all<messages::offer_made>().size(), 1u);
  EXPECT_EQ(x.testee.file().state->visits, 1u);
}

TEST(dialogue, does_not_begin_a_visit_again_that_is_answered) {
  talk x{state_rule::on_offer};
  x.visit(1);
  x.answer(1, first, verdict::accepted);
  x.answer(1, second, verdict::accepted);
  x.said.clear();
  x.invite(1);
  EXPECT_TRUE(x.all<messages::fetch_requested>().empty());
  EXPECT_EQ(x.last<messages::visit_declined>().why,
            messages::decline_reason::dropped);
}

// What it said may have been lost on the way.
TEST(dialogue, says_again_how_a_visit_without_an_offer_ended) {
  const auto again = [](const auto& outcome) {
    talk x{state_rule::on_offer};
    x.invite(1);
    x.serve(1, first);
    x.serve(1, second);
    x.did(x.testee.finished({{me, {1}}, outcome}, x.now));
    const auto first = x.last<messages::visit_declined>().why;
    x.said.clear();
    x.invite(1);
    EXPECT_EQ(x.last<messages::visit_declined>().why, first);
    return first;
  };
  EXPECT_EQ(again(models::trained{}), messages::decline_reason::no_offer);
  EXPECT_EQ(again(error{errc::diverged, "it diverged"}),
            messages::decline_reason::failed);
}

// For the record of a server that has forgotten it.
TEST(dialogue, says_what_it_fetched_of_lines_that_it_does_not_offer_to) {
  talk x{state_rule::on_offer};
  x.invite(1);
  x.serve(1, first);
  x.serve(1, second);
  models::trained done;
  done.parts = {{.block = {2}, .weight = 1, .delta = share({1.f})}};
  x.did(x.testee.finished({{me, {1}}, done}, x.now));
  const auto fetched = x.last<messages::offer_made>().fetched;
  ASSERT_EQ(fetched.size(), 1u);
  EXPECT_EQ(fetched.front().line, first);
  EXPECT_EQ(fetched.front().base, version{4});
  x.answer(1, second, verdict::accepted);
  x.visit(2);
  EXPECT_TRUE(x.last<messages::offer_made>().fetched.empty());
}

TEST(dialogue, offers_again_only_what_is_unanswered) {
  talk x{state_rule::on_offer};
  x.visit(1);
  x.answer(1, first, verdict::accepted);
  x.said.clear();
  x.did(x.testee.due(x.now + 9s));
  EXPECT_TRUE(x.all<messages::offer_made>().empty());
  x.did(x.testee.due(x.now + 10s));
  EXPECT_EQ(blocks_of(x.last<messages::offer_made>()),
            std::vector<std::uint64_t>{2});
  x.answer(1, second, verdict::overloaded); // Is to be said again.
  EXPECT_EQ(x.testee.file().outbox.size(), 1u);
  x.answer(1, second, verdict::accepted);
  EXPECT_TRUE(x.testee.file().outbox.empty());
}

// It may be on its way for so long.
TEST(dialogue, offers_again_later_what_is_large) {
  talk x{state_rule::on_offer};
  x.visit(1, std::size_t{4} << 20); // Floats, twice.
  x.said.clear();
  EXPECT_EQ(x.testee.next_due(), x.now + 12s);
  x.did(x.testee.due(x.now + 11s));
  EXPECT_TRUE(x.all<messages::offer_made>().empty());
  x.did(x.testee.due(x.now + 12s));
  EXPECT_EQ(blocks_of(x.last<messages::offer_made>()).size(), 2u);
}

// Nor does it do so at once for ever.
TEST(dialogue, comes_back_when_it_is_told_but_not_at_the_end_of_time) {
  talk x{state_rule::on_offer};
  x.visit(1);
  for (const std::uint64_t ms :
       {std::uint64_t{500}, ~std::uint64_t{0}, ~std::uint64_t{0} >> 1}) {
    x.hear(messages::offer_answered{
      {me, {1}}, second, verdict::overloaded, {5}, ms});
    EXPECT_EQ(x.testee.next_due(), x.now + (ms == 500 ? 500ms : 10s)) << ms;
  }
}

// It may be large, and just arrive.
TEST(dialogue, offers_no_sooner_again_because_it_is_invited_again) {
  talk x{state_rule::on_offer};
  x.visit(1);
  x.said.clear();
  x.now += 9s;
  x.invite(1);
  EXPECT_TRUE(x.all<messages::offer_made>().empty());
  EXPECT_TRUE(x.all<messages::visit_declined>().empty());
  x.did(x.testee.due(x.now + 1s));
  EXPECT_EQ(x.all<messages::offer_made>().size(), 1u);
}

TEST(dialogue, offers_again_after_a_restart) {
  talk before{state_rule::on_offer};
  before.visit(1);
  talk after{state_rule::on_offer, before.testee.file()};
  EXPECT_EQ(after.testee.file().outbox.size(), 1u);
  after.did(after.testee.due(after.now + 10s));
  EXPECT_EQ(after.last<messages::offer_made>().pass.visit, (visit_id{me, {1}}));
  after.said.clear();
  after.invite(1);
  EXPECT_TRUE(after.all<messages::fetch_requested>().empty());
}

TEST(dialogue, takes_the_new_state_only_when_all_of_the_offer_is_accepted) {
  for (const auto end :
       {verdict::accepted, verdict::duplicate, verdict::withdrawn}) {
    talk x{state_rule::on_accept};
    x.visit(1);
    x.answer(1, first, verdict::accepted);
    EXPECT_EQ(x.testee.file().state->visits, 0u);
    x.answer(1, second, end);
    EXPECT_EQ(x.testee.file().state->visits,
              end == verdict::withdrawn ? 0u : 1u);
  }
}

TEST(dialogue, holds_an_invitation_until_the_last_visit_is_settled) {
  talk x{state_rule::on_accept};
  x.visit(1);
  x.said.clear();
  x.invite(2);
  EXPECT_TRUE(x.all<messages::fetch_requested>().empty());
  x.answer(1, first, verdict::accepted);
  x.answer(1, second, verdict::accepted);
  EXPECT_EQ(x.last<messages::fetch_requested>().pass.visit,
            (visit_id{me, {2}}));
}

TEST(dialogue, has_no_ears_for_a_farewell_to_an_earlier_hello) {
  talk x{state_rule::on_offer};
  x.hear(messages::farewell{messages::farewell_reason::superseded, "", 12345});
  EXPECT_FALSE(x.testee.last_words());
  x.hear(messages::farewell{messages::farewell_reason::finished, ""});
  EXPECT_TRUE(x.testee.last_words());
}

TEST(dialogue, says_what_it_remembers) {
  talk x{state_rule::on_offer};
  x.visit(3);
  x.did(x.testee.start(x.now));
  EXPECT_EQ(x.last<messages::hello>().last, visit_number{3});
}

// Its file is lost, so it cannot know that it has begun five times before.
TEST(dialogue, takes_its_own_place_once_when_it_began_without_a_file) {
  const auto now = instant{1s};
  const auto superseded = [](const dialogue::actions& said,
                             std::uint64_t newest) {
    for (const auto& x : said)
      if (const auto* any = std::get_if<messages::any_message>(&x))
        if (const auto* hello = std::get_if<messages::hello>(any))
          return messages::farewell{messages::farewell_reason::superseded, "",
                                    hello->nonce, newest};
    return messages::farewell{};
  };
  const auto refused = [&](client_file found, std::uint64_t newest) {
    dialogue x{{.me = me, .blocks = std::make_shared<models::layout>()},
               std::move(found)};
    const auto said = x.heard(superseded(x.start(now), newest), now);
    const bool obeys = x.last_words().has_value();
    if (!obeys) {
      EXPECT_FALSE(x.heard(superseded(said, newest + 1), now).size() > 1);
      EXPECT_TRUE(x.last_words().has_value()) << "once";
    }
    return std::pair{obeys, x.file().incarnation};
  };
  using end = std::pair<bool, std::uint64_t>;
  EXPECT_EQ(refused({}, 5), (end{false, 6}));
  EXPECT_EQ(refused({}, 0), (end{true, 1})) << "the other is still here";
  EXPECT_EQ(refused({}, ~std::uint64_t{0}), (end{true, 1})) << "nobody's";
  client_file older;
  older.incarnation = 2;
  EXPECT_EQ(refused(older, 5), (end{true, 3}))
    << "it had a file: another has its place";
  talk welcomed{state_rule::on_offer};
  welcomed.did(welcomed.testee.start(now));
  welcomed.hear(superseded(welcomed.said, 5));
  EXPECT_TRUE(welcomed.testee.last_words())
    << "it was known, and has been left";
}

// The server may have given the visit up while the offer was under way, or it
// may be merged: its lines answer.
TEST(dialogue, is_not_told_by_a_withdrawal_what_became_of_an_offer) {
  talk client{state_rule::on_accept};
  client.visit(1);
  client.hear(messages::visit_ended{{me, {1}}, verdict::withdrawn});
  EXPECT_EQ(client.testee.file().outbox.size(), 1u);
  client.answer(1, first, verdict::accepted);
  client.answer(1, second, verdict::accepted);
  EXPECT_TRUE(client.testee.file().outbox.empty());
  EXPECT_EQ(client.testee.file().state->visits, 1u);
  // Refused as a whole it never came to a line.
  client.visit(2);
  client.hear(messages::visit_ended{{me, {2}}, verdict::malformed});
  EXPECT_TRUE(client.testee.file().outbox.empty());
  // What it is at work on it drops.
  client.invite(3);
  client.hear(messages::visit_ended{{me, {3}}, verdict::withdrawn});
  EXPECT_FALSE(client.testee.file().open);
}

TEST(dialogue, says_what_it_is_at_work_on) {
  talk client{state_rule::on_offer};
  client.did(client.testee.start(client.now));
  EXPECT_TRUE(client.last<messages::hello>().open.empty());
  client.welcome();
  client.invite(4);
  client.did(client.testee.start(client.now));
  ASSERT_EQ(client.last<messages::hello>().open.size(), 1u);
  EXPECT_EQ(client.last<messages::hello>().open[0].visit, (visit_id{me, {4}}));
}

// A server may be anybody: what it serves is screened as offers are.
TEST(dialogue, ends_a_visit_that_is_served_what_it_cannot_use) {
  const auto served = [](line_id line, std::vector<messages::block_values> what,
                         std::uint8_t unchanged = 0) {
    talk x{state_rule::on_offer};
    x.invite(1);
    x.hear(messages::line_served{.visit = {me, {1}},
                                 .line = line,
                                 .base = {4},
                                 .unchanged = unchanged,
                                 .blocks = std::move(what)});
    const auto ends = x.all<messages::visit_declined>();
    return !ends.empty() && ends.back().why == messages::decline_reason::failed;
  };
  const float none = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(served(first, {{{1}, share({0.f})}}));
  EXPECT_TRUE(served(first, {{{9}, share({0.f})}}));
  EXPECT_TRUE(served(first, {{{2}, share({0.f})}}));
  EXPECT_TRUE(served(first, {}));
  EXPECT_TRUE(served(first, {{{1}, share({0.f, 1.f})}}));
  EXPECT_TRUE(served(first, {{{1}, nullptr}}));
  EXPECT_TRUE(served(first, {{{1}, share({none})}}));
  EXPECT_TRUE(
    served(first, {{{1}, share({std::numeric_limits<float>::infinity()})}}));
  EXPECT_TRUE(served(first, {{{1}, share({0.f})}}, 1));
}

TEST(dialogue, declines_visits_of_no_role_and_numbers_after_which_none_is) {
  talk x{state_rule::on_offer};
  messages::ticket pass;
  pass.visit = {me, {1}};
  pass.role = 1;
  x.hear(messages::invited{pass});
  EXPECT_EQ(x.last<messages::visit_declined>().why,
            messages::decline_reason::failed);
  x.invite(~std::uint64_t{0});
  EXPECT_EQ(x.all<messages::visit_declined>().size(), 2u);
  x.visit(1);
  EXPECT_EQ(x.all<messages::offer_made>().size(), 1u);
}

TEST(dialogue, keeps_what_a_last_visit_makes_and_offers_nothing) {
  talk x{state_rule::on_accept};
  x.method.roles = {{.procedure = {"any"}}};
  x.method.finish = {"last"};
  messages::ticket pass;
  pass.visit = {me, {1}};
  pass.role = 2;
  x.hear(messages::invited{pass});
  EXPECT_EQ(x.last<messages::visit_declined>().why,
            messages::decline_reason::failed)
    << "no role is behind that of last visits";
  pass.role = 1;
  x.hear(messages::invited{pass});
  x.serve(1, first);
  x.serve(1, second);
  models::trained done;
  done.next.visits = 1;
  x.did(x.testee.finished({pass.visit, done}, x.now));
  EXPECT_EQ(x.last<messages::visit_declined>().why,
            messages::decline_reason::no_offer);
  EXPECT_EQ(x.testee.file().state->visits, 1u);
  EXPECT_TRUE(x.all<messages::offer_made>().empty());
}

} // namespace troupe::actors
