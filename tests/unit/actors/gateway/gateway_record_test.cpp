// What the gateway notes for a record that lost lines.

#include "tests/unit/actors/gateway/gateway_fixture.hpp"

namespace troupe::actors {

// Its record may have ended before the visit began.
TEST_F(gateway_test, notes_the_beginning_of_a_visit_from_before_a_restart) {
  using texts = std::vector<std::string>;
  open(ann, first);
  const auto one = invite(ann);
  const auto two = invite(ann);
  begin_again();
  noted();
  say(first, offer_of(one));
  EXPECT_EQ(noted(),
            (texts{"invited", "fetched 1:3", "fetched 2:4", "offered"}));
  say(first, offer_of(one));
  EXPECT_EQ(noted(), texts{});
  say(first, fetch_of(two));
  EXPECT_EQ(noted(), texts{"invited"});
  say(first, fetch_of(two));
  EXPECT_EQ(noted(), texts{});
  say(first, offer_of(two));
  EXPECT_EQ(noted(), (texts{"fetched 1:3", "fetched 2:4", "offered"}));
}

// It is noted before it is screened: nothing without a bound gets in.
TEST_F(gateway_test, notes_what_is_disclosed_as_the_recipe_declares_it_alone) {
  open(ann, first);
  for (const bool sound : {true, false}) {
    const auto pass = invite(ann);
    say(first, fetch_of(pass));
    auto x = offer_of(pass);
    x.disclosures.push_back({0, {2}});
    if (!sound)
      x.disclosures.resize(90'000);
    archivist.clear();
    say(first, x);
    ASSERT_FALSE(archivist.empty());
    const auto line = archivist.front().get_as<messages::line_noted>(0).text;
    EXPECT_NE(line.find(R"("event":"offered")"), std::string::npos) << line;
    EXPECT_EQ(line.find("disclosed") != std::string::npos, sound);
    EXPECT_LT(line.size(), 1000u);
  }
}

// Who says with each hello that it is at work on what is over is told so each
// time, and fills no record.
TEST_F(gateway_test, notes_once_that_a_visit_is_withdrawn) {
  open(ann, first);
  const auto pass = invite(ann);
  noted();
  for (int i = 0; i < 1000; ++i) {
    answers.clear();
    tell(messages::visit_withdrawn{pass.visit});
    EXPECT_EQ(end_of(answers), verdict::withdrawn);
  }
  EXPECT_EQ(noted(), std::vector<std::string>{"withdrawn"});
}

// Clients that live on forget what was refused; the record must not.
TEST_F(gateway_test, says_a_refusal_when_it_is_noted) {
  test::world::kill(caf::actor_cast<caf::actor>(testee));
  outlived = true;
  start();
  open(ann, first);
  const auto pass = invite(ann);
  say(first, fetch_of(pass));
  say(first, offer_of(pass));
  noted();
  const auto is_said = [&](verdict why) {
    answers.clear();
    tell(messages::part_answered{pass.visit, {1}, why, version{9}});
    return !answers.empty();
  };
  EXPECT_TRUE(is_said(verdict::overloaded));
  EXPECT_EQ(noted(), std::vector<std::string>{"refused"});
  test::world::kill(caf::actor_cast<caf::actor>(others->archivist));
  EXPECT_FALSE(is_said(verdict::too_stale));
}

// Which of two versions arrived, an offer says alone; none that nobody had.
TEST_F(gateway_test, notes_what_a_visit_trained_on_where_a_line_came_twice) {
  using texts = std::vector<std::string>;
  const auto noted_of = [&](int times, std::uint64_t served) {
    open(ann, first);
    const auto pass = invite(ann);
    for (int i = 0; i < times; ++i) {
      auto x = fetch_of(pass);
      for (const std::uint64_t block : {1, 3}) {
        x.wanted = {{.line = blocks->find(block_id{block})->line}};
        say(first, x);
        tell(messages::line_served{.visit = pass.visit,
                                   .leg = x.leg++,
                                   .line = x.wanted.front().line,
                                   .base = {served},
                                   .blocks = {}});
      }
      open(ann, first); // What was on its way is lost.
    }
    noted();
    say(first, offer_of(pass));
    return noted();
  };
  EXPECT_EQ(noted_of(1, 4), texts{"offered"});
  EXPECT_EQ(noted_of(2, 4), (texts{"fetched 1:3", "fetched 2:4", "offered"}));
  EXPECT_EQ(noted_of(2, 3), (texts{"fetched 1:3", "offered"}));
}

// As by one that has expired: its client's state has moved, and its lines may
// have it.
TEST_F(gateway_test, takes_an_offer_whose_key_is_over_for_a_late_one) {
  using texts = std::vector<std::string>;
  open(ann, first);
  for (const bool earlier : {false, true}) {
    const auto pass = invite(ann);
    say(first, fetch_of(pass));
    if (earlier)
      begin_again();
    change_key();
    noted();
    director.clear();
    for (int i = 0; i < 2; ++i) {
      router.clear();
      EXPECT_TRUE(say(first, offer_of(pass)).empty());
      ASSERT_EQ(router.size(), 1u);
      EXPECT_TRUE(router.front().get_as<messages::part_offered>(0).late);
      EXPECT_EQ(noted(), i > 0     ? texts{}
                         : earlier ? (texts{"invited", "fetched 1:3",
                                            "fetched 2:4", "offered"})
                                   : texts{"offered"});
    }
    EXPECT_EQ(count<messages::visit_failed>(director), 0u) << "lines say it";
    EXPECT_TRUE(say(first, messages::offer_awaited{pass, {{1}}}).empty());
    EXPECT_EQ(count<messages::part_awaited>(router), 1u);
  }
}

// A process before may have merged it, and only its lines know.
TEST_F(gateway_test, leaves_to_lines_what_is_over_and_of_a_process_before) {
  open(ann, first);
  for (const bool earlier : {false, true}) {
    const auto pass = invite(ann);
    say(first, fetch_of(pass));
    if (earlier)
      begin_again();
    say(first,
        messages::visit_declined{pass, messages::decline_reason::dropped});
    router.clear();
    const auto answer = say(first, offer_of(pass));
    EXPECT_EQ(answer.size(), earlier ? 0u : 1u);
    EXPECT_EQ(router.size(), earlier ? 1u : 0u);
    EXPECT_EQ(count<messages::part_awaited>(router), router.size());
  }
}

// Its director would wait, and may not know it; an offer that is on its way is
// the lines' to refuse.
TEST_F(gateway_test, ends_a_visit_that_fetches_by_a_key_that_is_over) {
  using texts = std::vector<std::string>;
  open(ann, first);
  for (const bool earlier : {false, true}) {
    const auto pass = invite(ann);
    say(first, fetch_of(pass));
    if (earlier)
      begin_again();
    change_key();
    noted();
    director.clear();
    router.clear();
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(end_of(say(first, fetch_of(pass))), verdict::withdrawn);
    ASSERT_EQ(director.size(), 1u);
    const auto failed = director.front().get_as<messages::visit_failed>(0);
    EXPECT_EQ(std::get<verdict>(failed.why), verdict::not_invited);
    EXPECT_TRUE(router.empty());
    EXPECT_EQ(noted(), texts{"withdrawn"});
    tell(messages::visit_withdrawn{pass.visit}); // As the director says then.
    EXPECT_EQ(noted(), texts{});
    answers.clear();
    director.clear();
    messages::invitation_made again{pass};
    tell(again); // The director said so before it heard, or has forgotten it.
    EXPECT_TRUE(answers.empty()) << "its client would say that it drops it";
    EXPECT_EQ(count<messages::visit_failed>(director), 1u) << "it would wait";
    say(first, offer_of(pass));
    const auto seen = noted();
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.back(), "offered");
    EXPECT_EQ(count<messages::part_offered>(router), 1u);
  }
}

// Before its director hears that it is here, and invites it to that again.
TEST_F(gateway_test, ends_at_hello_what_nobody_may_go_on_with) {
  for (const bool expires : {false, true}) {
    open(ann, first);
    const auto pass = invite(ann, std::chrono::hours{expires ? -1 : 1});
    if (!expires)
      change_key();
    noted();
    director.clear();
    messages::hello x;
    x.client = ann;
    x.nonce = ++nonce;
    x.open = {pass};
    say(second, x);
    answers.clear();
    tell(messages::hello_judged{second, x, {1}, {}, {}});
    const auto ends = [](const auto& said) {
      const auto* end = std::get_if<messages::visit_ended>(&said.second);
      return end && end->why == verdict::withdrawn;
    };
    EXPECT_EQ(std::ranges::count_if(answers, ends), 1);
    EXPECT_EQ(noted(), std::vector<std::string>{"withdrawn"});
    ASSERT_EQ(director.size(), 2u);
    EXPECT_TRUE(director[0].match_elements<messages::visit_failed>());
    EXPECT_EQ(director[1].get_as<messages::client_joined>(0).open,
              std::nullopt);
  }
}

TEST_F(gateway_test, hears_a_decline_by_a_key_that_is_over) {
  open(ann, first);
  const auto pass = invite(ann);
  change_key();
  director.clear();
  say(first, messages::visit_declined{pass, messages::decline_reason::failed});
  EXPECT_EQ(count<messages::visit_failed>(director), 1u);
}

// A replay could not find those, and its client would never be asked again.
TEST_F(gateway_test, notes_the_end_alone_of_what_stands_on_lost_versions) {
  open(ann, first);
  const auto pass = invite(ann);
  test::world::kill(caf::actor_cast<caf::actor>(testee));
  for (const auto& line : blocks->lines)
    found[line.id] = {3};
  start();
  open(ann, first);
  noted();
  director.clear();
  for (int i = 0; i < 2; ++i) {
    const auto answer = say(first, offer_of(pass));
    ASSERT_EQ(answer.size(), 1u);
    EXPECT_EQ(std::get<messages::offer_answered>(answer.front().second).verdict,
              verdict::withdrawn);
  }
  EXPECT_EQ(noted(), std::vector<std::string>{"visit_failed"});
  EXPECT_TRUE(router.empty());
  EXPECT_EQ(count<messages::visit_failed>(director), 1u);
}

} // namespace troupe::actors
