// The gateway alone, between a network and others that only listen. What a
// client says comes as frames.

#include "actors/gateway/gateway.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "tests/support/recipes/two_leg.hpp"
#include "tests/support/world.hpp"

namespace troupe::actors {

namespace {

using namespace std::chrono_literals;
using messages::farewell_reason;
using policies::verdict;

using said = std::vector<std::pair<peer_id, messages::any_message>>;

class ear final : public transport::endpoint {
public:
  explicit ear(said& all) : all_(all) {
    // nop
  }

  std::size_t send(peer_id to, messages::any_message x) override {
    all_.emplace_back(to, x);
    return still_queued ? 0 : transport::encoded_size(x);
  }

  bool still_queued = false;

private:
  said& all_;
};

using heard = std::vector<caf::message>;

caf::behavior listener(caf::event_based_actor* self, heard* all) {
  self->set_default_handler(
    [all](caf::scheduled_actor*,
          caf::message_view& x) -> caf::result<caf::message> {
      all->push_back(x.move_content_to_message());
      return caf::message{};
    });
  return {[](caf::unit_t) {}};
}

class gateway_test : public testing::Test {
protected:
  gateway_test()
    : method(test::two_leg_recipe(state_rule::on_offer)),
      blocks(std::make_shared<const models::layout>(
        *models::make_layout(method,
                             {{"base", {{"w", {2}}}},
                              {"tally", {{"w", {2}}}},
                              {"expert", {{"w", {2}}}}},
                             {.weight_max = 64, .delta_max = 8}))) {
    start({});
  }

  ~gateway_test() override {
    for (const auto& x : cast_of)
      test::world::kill(x);
    test::world::kill(caf::actor_cast<caf::actor>(testee));
    testee = nullptr;
    others.reset();
    cast_of.clear();
  }

  std::function<bool(peer_id, client_id)> may_speak;
  const std::shared_ptr<transport::refusals> refused =
    std::make_shared<transport::refusals>();

  void start(peer_limits limits) {
    const auto listen = [this](heard& all) {
      cast_of.push_back(w.system().spawn(listener, &all));
      return cast_of.back();
    };
    auto made = std::make_shared<cast>();
    made->roster = caf::actor_cast<roster_actor>(listen(roster));
    made->director = caf::actor_cast<director_actor>(listen(director));
    made->router = caf::actor_cast<router_actor>(listen(router));
    made->archivist = caf::actor_cast<archivist_actor>(listen(archivist));
    others = made;
    gateway_args args;
    args.network = network;
    args.counted = counted;
    args.blocks = blocks;
    args.method = &method;
    args.rules.disclosures = method.disclosures;
    args.limits = limits;
    args.may_speak = may_speak;
    args.refused = refused;
    args.key = {7};
    args.others = others;
    args.started = w.clock_now();
    args.events = true;
    testee = w.system().spawn(gateway, std::move(args));
    w.settle();
  }

  void tell(const auto& x) {
    caf::anon_send(testee, x);
    w.settle();
  }

  /// Returns what the server answers.
  said say(peer_id from, messages::any_message x) {
    answers.clear();
    tell(transport::frame_arrived{from, transport::frame{std::move(x)}});
    return answers;
  }

  void open(client_id who, peer_id peer) {
    messages::hello x;
    x.client = who;
    x.examples = 10;
    x.nonce = 5;
    say(peer, x);
    tell(messages::hello_judged{peer, x, {1}, {}, {}});
  }

  messages::ticket invite(client_id who, instant expires = 1h) {
    messages::invitation_made x;
    x.pass.visit = {who, {++number}};
    x.pass.expires_ns = expires.count();
    answers.clear();
    tell(x);
    for (const auto& [peer, any] : answers)
      if (const auto* y = std::get_if<messages::invited>(&any))
        return y->pass;
    ADD_FAILURE() << "nobody was invited";
    return {};
  }

  messages::fetch_requested fetch_of(const messages::ticket& pass) const {
    return {.pass = pass,
            .leg = 0,
            .wanted = {{.line = blocks->find(block_id{1})->line}}};
  }

  /// Why the visit ended, if that is all that the server says.
  static std::optional<verdict> end_of(const said& x) {
    if (x.size() != 1)
      return std::nullopt;
    const auto* end = std::get_if<messages::visit_ended>(&x.front().second);
    return end ? std::optional{end->why} : std::nullopt;
  }

  template <class T>
  static std::size_t count(const heard& all) {
    return static_cast<std::size_t>(std::ranges::count_if(
      all, [](const auto& x) { return x.template match_elements<T>(); }));
  }

  const recipe method;
  const std::shared_ptr<const models::layout> blocks;
  said answers;
  const std::shared_ptr<ear> network = std::make_shared<ear>(answers);
  heard roster;
  heard director;
  heard router;
  heard archivist;
  const std::shared_ptr<traffic> counted = std::make_shared<traffic>();
  test::world w{1};
  std::vector<caf::actor> cast_of;
  cast_ptr others;
  gateway_actor testee;
  std::uint64_t number = 0;
};

constexpr client_id ann{1};
constexpr client_id ben{2};
constexpr peer_id first{11};
constexpr peer_id second{12};

} // namespace

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

TEST_F(gateway_test, hears_nothing_without_a_session) {
  const auto answer = say(first, messages::beat{ann, {1}});
  ASSERT_EQ(answer.size(), 1u);
  const auto* x = std::get_if<messages::farewell>(&answer.front().second);
  ASSERT_TRUE(x);
  EXPECT_EQ(x->reason, farewell_reason::no_session);
}

class bounded_gateway : public gateway_test {
protected:
  bounded_gateway() {
    test::world::kill(caf::actor_cast<caf::actor>(testee));
    start({.frames_per_second = 10, .clients_max = 1});
  }
};

TEST_F(bounded_gateway, closes_the_session_of_a_peer_that_says_too_much) {
  open(ann, first);
  open(ben, second);
  for (int i = 0; i < 98; ++i)
    say(first, messages::beat{ann, {1}});
  EXPECT_EQ(count<messages::client_left>(roster), 0u);
  for (int i = 0; i < 10; ++i)
    say(first, messages::beat{ann, {1}});
  EXPECT_EQ(count<messages::client_left>(roster), 1u);
  EXPECT_TRUE(answers.empty()) << "it is not answered any more";
  EXPECT_EQ(counted->frames_over_budget, 9u);
  EXPECT_FALSE(say(second, messages::beat{ben, {1}}).empty());
}

TEST_F(bounded_gateway, lets_a_connection_speak_for_one_client) {
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
}

class keyed_gateway : public gateway_test {
protected:
  keyed_gateway() {
    test::world::kill(caf::actor_cast<caf::actor>(testee));
    may_speak = [](peer_id peer, client_id who) {
      return peer == first && who == ann;
    };
    start({});
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

TEST_F(keyed_gateway, opens_nothing_large_of_who_has_no_session) {
  const transport::frame large{transport::buffer(5000)};
  tell(transport::frame_arrived{first, large});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<messages::farewell>(answers[0].second));
  EXPECT_EQ(counted->frames_malformed, 0u);
  open(ann, first);
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
