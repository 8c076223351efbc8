#include "tests/unit/actors/gateway/gateway_fixture.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;

TEST_F(gateway_test, serves_a_client_on_its_own_ticket_alone) {
  open(ann, first);
  open(ben, second);
  const auto pass = invite(ann);
  EXPECT_EQ(end_of(say(second, fetch_of(pass))), verdict::not_invited);
  EXPECT_EQ(count<messages::serve_requested>(router), 0u);
  EXPECT_TRUE(say(first, fetch_of(pass)).empty());
  EXPECT_EQ(count<messages::serve_requested>(router), 1u);
}

TEST_F(gateway_test, serves_nothing_without_a_ticket_that_it_has_sealed) {
  open(ann, first);
  auto pass = invite(ann);
  pass.mac.front() ^= 1;
  EXPECT_EQ(end_of(say(first, fetch_of(pass))), verdict::not_invited);
  EXPECT_EQ(count<messages::serve_requested>(router), 0u);
}

TEST_F(gateway_test, serves_nothing_on_a_ticket_that_has_expired) {
  open(ann, first);
  const auto pass = invite(ann, -1ns);
  EXPECT_EQ(end_of(say(first, fetch_of(pass))), verdict::withdrawn);
  EXPECT_EQ(count<messages::serve_requested>(router), 0u);
}

// Tickets expire by the time of the run, which goes on over processes.
TEST_F(gateway_test, has_tickets_expire_while_it_is_not_there) {
  open(ann, first);
  const auto pass = invite(ann, 1h);
  const auto go_on_after = [&](instant x) {
    test::world::kill(caf::actor_cast<caf::actor>(testee));
    elapsed = x;
    start();
    open(ann, first);
    router.clear();
    return end_of(say(first, fetch_of(pass)));
  };
  EXPECT_EQ(go_on_after(59min), std::nullopt);
  EXPECT_EQ(count<messages::serve_requested>(router), 1u);
  EXPECT_EQ(go_on_after(61min), verdict::withdrawn);
  EXPECT_EQ(count<messages::serve_requested>(router), 0u);
}

TEST_F(gateway_test, serves_a_line_of_the_leg_once_in_a_request) {
  open(ann, first);
  auto x = fetch_of(invite(ann));
  x.wanted.assign(4096, x.wanted.front());
  EXPECT_EQ(end_of(say(first, x)), verdict::malformed);
  EXPECT_EQ(count<messages::serve_requested>(router), 0u);
}

TEST_F(gateway_test, serves_as_often_as_is_asked_what_waits_on_its_way) {
  open(ann, first);
  const auto pass = invite(ann);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(end_of(say(first, fetch_of(pass))), std::nullopt);
    messages::line_served x;
    x.visit = pass.visit;
    x.line = blocks->find(block_id{1})->line;
    network->still_queued = i > 0;
    tell(x);
    w.later(2min, [] {});
    w.settle();
  }
}

TEST_F(gateway_test, hears_a_decline_with_a_ticket_and_once) {
  open(ann, first);
  const auto pass = invite(ann);
  auto forged = pass;
  forged.mac.front() ^= 1;
  const auto why = messages::decline_reason::failed;
  say(first, messages::visit_declined{forged, why});
  EXPECT_EQ(count<messages::visit_failed>(director), 0u);
  const auto lines = count<messages::line_noted>(archivist);
  for (int i = 0; i < 100; ++i)
    say(first, messages::visit_declined{pass, why});
  EXPECT_EQ(count<messages::visit_failed>(director), 1u);
  EXPECT_EQ(count<messages::line_noted>(archivist), lines + 1);
}

// A line that does not know of it refuses it, which stands in the record once.
TEST_F(gateway_test, asks_lines_after_offers_without_values) {
  open(ann, first);
  const auto pass = invite(ann);
  auto forged = pass;
  forged.mac.front() ^= 1;
  EXPECT_EQ(end_of(say(first, messages::offer_awaited{forged, {{1}}})),
            verdict::not_invited);
  EXPECT_EQ(count<messages::part_awaited>(router), 0u);
  auto before = pass; // Of a server before this one.
  before.visit.number = {pass.visit.number.value + 7};
  seal{seal::key{7}}.sign(before);
  say(first, messages::offer_awaited{before, {{1}, {1}, {99}}});
  EXPECT_EQ(count<messages::part_awaited>(router), 1u);
  const auto lines = count<messages::line_noted>(archivist);
  for (int i = 0; i < 2; ++i)
    tell(messages::part_answered{before.visit, {1}, verdict::withdrawn, {}});
  EXPECT_EQ(count<messages::line_noted>(archivist), lines + 1);
}

// Whoever gave it its number, nobody is to wait for it.
TEST_F(gateway_test, says_once_that_a_visit_has_no_ticket) {
  open(ann, first);
  open(ben, second);
  number = 7;
  auto pass = invite(ann);
  seal{seal::key{9}}.sign(pass);
  noted();
  director.clear();
  router.clear();
  const auto is_told = [&](peer_id from, std::uint64_t of, std::size_t times) {
    pass.visit.number = {of};
    for (const auto& x : std::vector<messages::any_message>{
           fetch_of(pass), offer_of(pass),
           messages::offer_awaited{pass, {{1}}}})
      EXPECT_EQ(end_of(say(from, x)), verdict::not_invited) << of;
    EXPECT_EQ(count<messages::visit_failed>(director), times) << of;
    EXPECT_EQ(director.size(), times) << of;
    director.clear();
  };
  is_told(first, 8, 1);
  is_told(first, 8, 0);
  is_told(first, 9, 0);  // Nobody was given it.
  is_told(second, 7, 0); // It is another client's.
  is_told(first, 7, 1);  // Of before a restart, maybe.
  EXPECT_TRUE(router.empty());
  EXPECT_TRUE(noted().empty());
  const auto draft = std::make_shared<status_draft>();
  tell(messages::status_asked{draft});
  const auto of = static_cast<std::size_t>(verdict::not_invited);
  EXPECT_EQ(draft->taken().door->refusals[of], 15u) << "not counted";
}

TEST_F(gateway_test, lets_nobody_leave_for_another) {
  open(ann, first);
  open(ben, second);
  say(first, messages::leave{ben});
  EXPECT_EQ(count<messages::client_left>(roster), 1u);
  // Ben is still here, and Ann is not.
  EXPECT_FALSE(say(second, messages::beat{ben, {1}}).empty());
  const auto answer = say(first, messages::beat{ann, {1}});
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_TRUE(
    std::holds_alternative<messages::farewell>(answer.front().second));
}

TEST_F(gateway_test, takes_nothing_on_tickets_of_who_was_denied) {
  open(ann, first);
  const auto pass = invite(ann);
  say(first, fetch_of(pass));
  roster.clear();
  tell(messages::client_left{.client = ann, .said = true});
  EXPECT_EQ(count<messages::client_left>(roster), 1u);
  EXPECT_TRUE(std::holds_alternative<messages::farewell>(
    say(first, fetch_of(pass)).front().second));
  // Its key is allowed once more.
  open(ann, first);
  router.clear();
  EXPECT_EQ(end_of(say(first, fetch_of(pass))), verdict::withdrawn);
  messages::offer_made x;
  x.pass = pass;
  say(first, x);
  EXPECT_TRUE(router.empty());
}

TEST_F(gateway_test, tells_a_peer_whose_client_came_by_another) {
  open(ann, first);
  open(ann, second);
  bool told = false;
  for (const auto& [peer, any] : answers)
    if (const auto* x = std::get_if<messages::farewell>(&any))
      told |= peer == first && x->reason == farewell_reason::superseded;
  EXPECT_TRUE(told);
}

TEST_F(gateway_test, screens_an_offer_before_a_line_sees_it) {
  open(ann, first);
  const auto pass = invite(ann);
  say(first, fetch_of(pass));
  router.clear();
  messages::offer_made x;
  x.pass = pass;
  x.blocks.resize(1);
  x.blocks.front().block = {1};
  x.blocks.front().weight = -1;
  EXPECT_EQ(end_of(say(first, x)), verdict::malformed);
  EXPECT_TRUE(router.empty());
}

// With a full disk nothing is lost, and nothing stands on what is not there.
TEST_F(gateway_test, has_an_offer_said_again_that_it_could_not_keep) {
  test::world::kill(caf::actor_cast<caf::actor>(testee));
  bool has_room = false;
  int kept = 0;
  keeps = [&](const messages::offer_made&, std::uint64_t examples) {
    EXPECT_EQ(examples, 10u);
    kept += has_room;
    return has_room;
  };
  start();
  open(ann, first);
  const auto pass = invite(ann);
  say(first, fetch_of(pass));
  router.clear();
  noted();
  for (int i = 0; i < 2; ++i) {
    const auto answer = say(first, offer_of(pass));
    ASSERT_EQ(answer.size(), 1u) << "there is one line";
    const auto& x = std::get<messages::offer_answered>(answer.front().second);
    EXPECT_EQ(x.verdict, verdict::overloaded);
    EXPECT_GT(x.retry_ms, 0u);
    EXPECT_TRUE(router.empty());
    EXPECT_TRUE(noted().empty());
  }
  has_room = true;
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(say(first, offer_of(pass)).empty());
  EXPECT_EQ(kept, 1) << "what is said again is there";
  EXPECT_EQ(noted(), std::vector<std::string>{"offered"});
  EXPECT_EQ(count<messages::part_offered>(router), 2u);
  EXPECT_EQ(count<messages::visit_loaded>(director), 1u) << "of one visit";
}

TEST_F(gateway_test, hears_nothing_without_a_session) {
  const auto answer = say(first, messages::beat{ann, {1}});
  ASSERT_EQ(answer.size(), 1u);
  const auto* x = std::get_if<messages::farewell>(&answer.front().second);
  ASSERT_TRUE(x);
  EXPECT_EQ(x->reason, farewell_reason::no_session);
}

TEST_F(gateway_test, has_all_that_is_said_show_that_a_client_is_there) {
  test::world::kill(caf::actor_cast<caf::actor>(testee));
  silence_counts = true;
  start();
  open(ann, first);
  const auto pass = invite(ann);
  roster.clear();
  for (int i = 0; i < 9; ++i)
    say(first, fetch_of(pass));
  EXPECT_EQ(count<messages::beat_heard>(roster), 1u) << "once a second";
  w.later(2s, [] {});
  w.settle();
  say(first, messages::visit_declined{pass, messages::decline_reason::failed});
  EXPECT_EQ(count<messages::beat_heard>(roster), 2u);
  say(first, messages::beat{ann, {1}});
  EXPECT_EQ(count<messages::beat_heard>(roster), 3u);
  say(first, messages::beat{ann, {2}}); // Of another session.
  say(second, fetch_of(pass));
  EXPECT_EQ(count<messages::beat_heard>(roster), 3u);
}

TEST_F(gateway_test, lets_a_channel_speak_for_one_client_at_a_time) {
  open(ann, first);
  roster.clear();
  messages::hello x;
  x.client = ben;
  x.nonce = 9;
  const auto answer = say(first, x);
  EXPECT_EQ(count<messages::hello_heard>(roster), 0u);
  ASSERT_EQ(answer.size(), 1u);
  const auto* no = std::get_if<messages::farewell>(&answer.front().second);
  ASSERT_TRUE(no);
  EXPECT_EQ(no->reason, farewell_reason::refused);
  EXPECT_EQ(no->nonce, 9u);
  say(first, messages::leave{ann});
  say(first, x);
  EXPECT_EQ(count<messages::hello_heard>(roster), 1u);
}

// Who is judged first would be here, with nobody to speak for it.
TEST_F(gateway_test, hears_no_other_hello_of_a_channel_that_waits_for_one) {
  messages::hello one;
  one.client = ann;
  one.nonce = 5;
  auto other = one;
  other.client = ben;
  other.nonce = 6;
  EXPECT_TRUE(say(first, one).empty());
  EXPECT_TRUE(say(first, other).empty()) << "it says it again";
  EXPECT_EQ(count<messages::hello_heard>(roster), 1u);
  say(first, messages::leave{ann});
  EXPECT_TRUE(say(first, other).empty());
  EXPECT_EQ(count<messages::hello_heard>(roster), 1u);
  tell(messages::hello_judged{first, one, {1}, {}, {}});
  EXPECT_EQ(count<messages::client_left>(roster), 1u);
  EXPECT_TRUE(say(first, other).empty());
  EXPECT_EQ(count<messages::hello_heard>(roster), 2u);
}

// Its answer was lost, or is on its way.
TEST_F(gateway_test, answers_a_hello_that_is_said_again_as_before) {
  messages::hello x;
  x.client = ann;
  x.nonce = 7;
  EXPECT_TRUE(say(first, x).empty());
  EXPECT_TRUE(say(first, x).empty());
  EXPECT_EQ(count<messages::hello_heard>(roster), 1u);
  tell(messages::hello_judged{first, x, {3}, {}, {}});
  const auto again = say(first, x);
  EXPECT_EQ(count<messages::hello_heard>(roster), 1u);
  EXPECT_EQ(count<messages::client_joined>(director), 1u);
  ASSERT_EQ(again.size(), 1u);
  const auto* welcome = std::get_if<messages::welcome>(&again.front().second);
  ASSERT_NE(welcome, nullptr);
  EXPECT_EQ(welcome->nonce, 7u);
  EXPECT_EQ(welcome->session, session_id{3});
  ++x.nonce; // It begins anew, and may have forgotten.
  say(first, x);
  EXPECT_EQ(count<messages::hello_heard>(roster), 2u);
}

class keyed_gateway : public gateway_test {
protected:
  keyed_gateway() {
    test::world::kill(caf::actor_cast<caf::actor>(testee));
    may_speak = [](peer_id peer, client_id who) {
      return peer == first && who == ann;
    };
    start();
  }

  std::uint64_t refused_for(transport::refusal why) const {
    return refused->all()[static_cast<std::size_t>(why)];
  }
};

TEST_F(keyed_gateway, hears_a_client_from_whom_it_belongs_to_alone) {
  messages::hello x;
  x.nonce = 9;
  for (const auto& [peer, who] : {std::pair{first, ben}, {second, ann}}) {
    x.client = who;
    const auto answer = say(peer, x);
    ASSERT_EQ(answer.size(), 1u);
    const auto* no = std::get_if<messages::farewell>(&answer.front().second);
    ASSERT_TRUE(no);
    EXPECT_EQ(no->reason, farewell_reason::refused);
  }
  EXPECT_EQ(count<messages::hello_heard>(roster), 0u);
  EXPECT_EQ(refused_for(transport::refusal::client_of_another), 2u);
  x.client = ann;
  say(first, x);
  EXPECT_EQ(count<messages::hello_heard>(roster), 1u);
}

TEST_F(gateway_test, answers_no_hello_of_a_key_that_is_looked_at_again) {
  test::world::kill(caf::actor_cast<caf::actor>(testee));
  std::optional<bool> may;
  may_speak = [&may](peer_id, client_id) { return may; };
  start();
  messages::hello x;
  x.client = ann;
  x.nonce = 5;
  EXPECT_TRUE(say(first, x).empty());
  EXPECT_EQ(count<messages::hello_heard>(roster), 0u);
  may = true;
  EXPECT_TRUE(say(first, x).empty());
  EXPECT_EQ(count<messages::hello_heard>(roster), 1u);
}

TEST_F(keyed_gateway, opens_nothing_large_of_who_has_no_session) {
  const transport::frame large{transport::buffer(5000)};
  for (const auto& x : {large, transport::frame::left_out()}) {
    answers.clear();
    tell(transport::frame_arrived{first, x});
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_TRUE(std::holds_alternative<messages::farewell>(answers[0].second));
  }
  EXPECT_EQ(counted->frames_malformed, 0u);
  EXPECT_TRUE(network->known.empty());
  open(ann, first);
  EXPECT_EQ(network->known, std::vector{first});
  answers.clear();
  tell(transport::frame_arrived{first, large});
  EXPECT_EQ(counted->frames_malformed, 1u);
}

TEST_F(keyed_gateway, hears_nothing_of_another_session_or_that_servers_say) {
  open(ann, first);
  EXPECT_TRUE(say(first, messages::beat{ann, {2}}).empty());
  EXPECT_EQ(refused_for(transport::refusal::replayed_session), 1u);
  EXPECT_FALSE(say(first, messages::beat{ann, {1}}).empty());
  EXPECT_TRUE(say(first, messages::invited{}).empty());
  EXPECT_EQ(refused_for(transport::refusal::frame_of_servers), 1u);
}

} // namespace troupe::actors
