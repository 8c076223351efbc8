#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/atom.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include "actors/metrics/status.hpp"
#include "actors/wiring_of_serving.hpp"

namespace troupe::actors {
namespace {

class mailbox final : public transport::endpoint {
public:
  std::size_t send(peer_id, messages::any_message x) override {
    all.push_back(std::move(x));
    return 1;
  }

  std::vector<messages::any_message> all;
};

struct reception_test : testing::Test {
  reception_test() {
    config.set("scheduler.policy", caf::atom("testing"));
    args.book = leases{{.clients = 3, .named_above = 3, .named_max = 4}};
    args.keep = [this](const leases& x) -> result<void> {
      if (full)
        return fail(errc::storage_failure, "the disk is full");
      kept = x.all();
      return {};
    };
    args.network = network;
  }

  messages::places_given ask(const messages::places_asked& x) {
    hear(x);
    args.book.restore(kept);
    return std::get<messages::places_given>(network->all.back());
  }

  void hear(const messages::any_message& x, int times = 1) {
    caf::actor_system system{config};
    auto who = start_reception(system, args);
    for (int i = 0; i < times; ++i)
      caf::anon_send(who, transport::frame_arrived{{1}, transport::frame{x}});
    auto& all =
      dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
    all.run();
    caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
    all.run();
  }

  caf::actor_system_config config;
  std::shared_ptr<mailbox> network = std::make_shared<mailbox>();
  reception_args args;
  leases::contents kept;
  bool full = false;
};

messages::places_asked named(std::string name) {
  return {.nonce = 1, .store = {1}, .count = 1, .name = std::move(name)};
}

TEST_F(reception_test, stores_a_name_before_it_says_its_number) {
  EXPECT_EQ(ask(named("ward7")).clients, (std::vector<client_id>{{4}}));
  EXPECT_EQ(kept.by_name.at("ward7").client, client_id{4});
  full = true;
  hear(named("ward8"));
  EXPECT_EQ(network->all.size(), 1U) << "who has no answer asks again";
  EXPECT_EQ(ask(named("ward7")).clients, (std::vector<client_id>{{4}}));
  full = false;
  EXPECT_EQ(ask(named("ward8")).clients, (std::vector<client_id>{{5}}));
}

TEST_F(reception_test, says_once_that_it_cannot_store_and_once_that_it_can) {
  std::vector<std::string> said;
  args.say = [&said](const std::string& line) { said.push_back(line); };
  int left = 3; // Questions, until there is room.
  args.keep = [&left](const leases&) -> result<void> {
    if (left-- > 0)
      return fail(errc::storage_failure, "the disk is full");
    return {};
  };
  hear(named("ward7"), 5);
  EXPECT_EQ(said, (std::vector<std::string>{
                    "places of clients are not stored, and who asks waits: the "
                    "disk is full",
                    "places of clients are stored again"}));
  EXPECT_EQ(network->all.size(), 2U);
}

// Nobody would begin it again.
TEST_F(reception_test, outlives_what_is_thrown_and_says_so_once) {
  std::vector<std::string> said;
  args.say = [&said](const std::string& line) { said.push_back(line); };
  int left = 3; // Questions, until there is memory.
  args.keep = [&left](const leases&) -> result<void> {
    if (left-- > 0)
      throw std::runtime_error{"there is no memory"};
    return {};
  };
  hear(named("ward7"), 5);
  EXPECT_EQ(network->all.size(), 2U) << "nobody has an answer any more";
  EXPECT_EQ(said, std::vector<std::string>{"a process has no answer, and asks "
                                           "again: there is no memory"});
}

// Who waited has gone meanwhile.
TEST_F(reception_test, says_that_places_are_stored_again_though_nobody_asks) {
  std::vector<std::string> said;
  args.say = [&said](const std::string& line) { said.push_back(line); };
  caf::actor_system system{config};
  auto who = start_reception(system, args);
  auto& all =
    dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
  const auto pass = [&all] {
    all.advance_time(std::chrono::seconds{1});
    all.run();
  };
  full = true;
  const messages::any_message asked = named("ward7");
  caf::anon_send(who, transport::frame_arrived{{1}, transport::frame{asked}});
  all.run();
  pass();
  EXPECT_EQ(said.size(), 1U) << "the disk is full yet";
  full = false;
  pass();
  EXPECT_EQ(said.size(), 2U) << "nobody hears that there is room";
  EXPECT_EQ(said.back(), "places of clients are stored again");
  EXPECT_TRUE(kept.by_name.contains("ward7")) << "it has it when it asks again";
  EXPECT_TRUE(network->all.empty());
  EXPECT_FALSE(all.has_pending_timeout()) << "it looks on for ever";
  caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
  all.run();
}

// There may be room for all but the place that somebody waits for.
TEST_F(reception_test, says_that_places_are_stored_when_the_one_it_lacks_is) {
  std::vector<std::string> said;
  args.say = [&said](const std::string& line) { said.push_back(line); };
  args.keep = [](const leases& x) -> result<void> {
    if (x.all().by_name.empty())
      return {};
    return fail(errc::storage_failure, "the disk is full");
  };
  caf::actor_system system{config};
  auto who = start_reception(system, args);
  auto& all =
    dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
  for (int i = 0; i < 3; ++i) {
    const messages::any_message asked = named("ward7");
    caf::anon_send(who, transport::frame_arrived{{1}, transport::frame{asked}});
    all.run();
    all.advance_time(std::chrono::seconds{1});
    all.run();
  }
  EXPECT_EQ(said.size(), 1U);
  caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
  all.run();
}

// Who is refused ends with that, and the key of who waits is its own.
TEST_F(reception_test, says_nothing_of_an_enrolment_that_cannot_be_stored) {
  std::vector<std::string> said;
  args.say = [&said](const std::string& line) { said.push_back(line); };
  auto how = errc::storage_failure;
  args.enrol = [&how](peer_id, const public_key&) -> result<void> {
    return fail(how, "the disk is full");
  };
  hear(messages::enrolment_asked{}, 2);
  EXPECT_TRUE(network->all.empty());
  EXPECT_EQ(said, (std::vector<std::string>{
                    "enrolments are not stored, and who asks waits: the disk "
                    "is full"}));
  how = errc::invalid_argument;
  hear(messages::enrolment_asked{});
  EXPECT_EQ(network->all.size(), 1U);
}

// A process without descriptors has nothing to do with its disk.
TEST_F(reception_test, says_of_an_enrolment_what_cannot_be_read) {
  std::vector<std::string> said;
  args.say = [&said](const std::string& line) { said.push_back(line); };
  int asked = 0;
  args.enrol = [&asked](peer_id, const public_key&) -> result<void> {
    ++asked;
    if (asked < 3)
      return fail(errc::unavailable, "keys/invited/07 cannot be read: EMFILE");
    if (asked < 4)
      return fail(errc::storage_failure, "the disk is full");
    return {};
  };
  hear(messages::enrolment_asked{}, 4);
  EXPECT_EQ(said, (std::vector<std::string>{
                    "enrolments are not read, and who asks waits: "
                    "keys/invited/07 cannot be read: EMFILE",
                    "enrolments are not stored, and who asks waits: the disk "
                    "is full",
                    "enrolments are stored again"}));
  EXPECT_EQ(network->all.size(), 1U);
}

TEST_F(reception_test, says_what_mail_waits_for_it) {
  caf::actor_system system{config};
  auto who = start_reception(system, args);
  const auto draft = std::make_shared<status_draft>();
  caf::anon_send(who, messages::status_asked{draft});
  const messages::any_message asked = messages::terms_asked{.nonce = 1};
  for (int i = 0; i < 3; ++i)
    caf::anon_send(who, transport::frame_arrived{{1}, transport::frame{asked}});
  auto& all =
    dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
  all.run();
  EXPECT_EQ(draft->taken().mailboxes.at("reception"), 3u);
  caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
  all.run();
}

// Places are asked for once; who finds its server again asks for terms alone.
TEST_F(reception_test, knows_whom_to_see_off_by_the_terms_it_gave) {
  std::vector<peer_id> came;
  args.came = [&came](peer_id x) { came.push_back(x); };
  hear(messages::terms_asked{.nonce = 1});
  EXPECT_EQ(came, (std::vector<peer_id>{{1}}));
  hear(
    messages::terms_asked{.protocol_min = 99, .protocol_max = 99, .nonce = 2});
  EXPECT_EQ(came.size(), 1U);
}

// So does the connection of an invitation, by which nothing else may be said.
TEST_F(reception_test, tells_who_leaves_and_whether_it_has_heard_of_the_end) {
  std::vector<messages::parting> parted;
  args.parted = [&parted](peer_id, messages::parting x) {
    parted.push_back(x);
  };
  args.claim_of = [](peer_id) -> result<claim> {
    return fail(errc::storage_failure, "there is no such file");
  };
  using enum messages::parting;
  hear(messages::process_parted{for_now, {}});
  hear(messages::process_parted{over, "20 rounds"});
  EXPECT_EQ(parted, (std::vector{for_now, over}));
  EXPECT_EQ(
    args.refused
      ->all()[static_cast<std::size_t>(transport::refusal::beyond_enrolment)],
    0U);
}

// Who hears that it may have no clients ends; without an answer it asks again.
TEST_F(reception_test, says_nothing_while_nobody_can_say_what_a_key_may) {
  const auto nobody_can = fail(errc::unavailable, "too many open files");
  int asked = 0;
  args.claim_of = [&](peer_id) -> result<claim> {
    if (++asked == 2)
      return claim{.who = {1}, .numbers_max = 9};
    return nobody_can;
  };
  args.enrol = [&](peer_id, const public_key&) -> result<void> {
    return nobody_can;
  };
  hear(messages::enrolment_asked{});
  hear(messages::terms_asked{.nonce = 1});
  EXPECT_EQ(asked, 1);
  hear(named("ward7"));
  EXPECT_EQ(asked, 3) << "it could be read once";
  EXPECT_TRUE(network->all.empty());
  EXPECT_EQ(
    args.refused
      ->all()[static_cast<std::size_t>(transport::refusal::beyond_enrolment)],
    0U);
}

// Each takes a look at all places, or waits for a folder.
TEST_F(reception_test, answers_a_process_so_often_in_a_second) {
  for (const messages::any_message& x :
       {messages::any_message{named("ward7")},
        messages::any_message{messages::terms_asked{.nonce = 1}},
        messages::any_message{messages::enrolment_asked{}}}) {
    network->all.clear();
    hear(x, 5'000);
    EXPECT_GE(network->all.size(), 10U);
    EXPECT_LT(network->all.size(), 100U);
  }
}

TEST_F(reception_test, counts_names_and_numbers_of_a_key_together) {
  args.claim_of = [](peer_id) {
    return claim{.who = {1}, .numbers_max = 2, .names = "ward*"};
  };
  EXPECT_EQ(ask({.nonce = 1, .store = {}, .count = 1}).clients.size(), 1U);
  EXPECT_EQ(ask(named("ward7")).clients.size(), 1U);
  EXPECT_EQ(ask(named("ward8")).why, "this key may have 2 clients at most");
  EXPECT_EQ(ask({.nonce = 1, .store = {}, .count = 2}).why,
            "this key may have 2 clients at most");
  EXPECT_EQ(ask(named("ward7")).clients.size(), 1U);
}

TEST_F(reception_test, lets_in_the_one_that_a_key_is_for_and_no_other) {
  args.claim_of = [](peer_id) {
    return claim{.who = {1}, .numbers_max = 0, .names = "ward7"};
  };
  EXPECT_EQ(ask(named("ward7")).clients.size(), 1U);
  EXPECT_EQ(ask(named("ward7")).clients.size(), 1U);
  EXPECT_TRUE(ask(named("ward8")).clients.empty());
  EXPECT_EQ(ask({.nonce = 1, .store = {}, .count = 1}).why,
            "this key may have 0 clients at most");
  args.claim_of = [](peer_id) {
    return claim{.who = {2}, .numbers_max = 0, .names = "ward*"};
  };
  EXPECT_EQ(ask(named("ward9")).why, "this key may have 0 clients at most");
}

TEST_F(reception_test, gives_a_key_the_names_alone_that_are_its) {
  args.claim_of = [](peer_id) {
    return claim{.who = {1}, .numbers_max = 9, .names = "ward*"};
  };
  EXPECT_EQ(ask(named("other")).why,
            "the clients of this key are called 'ward*'");
  EXPECT_EQ(ask(named("ward")).clients.size(), 1U);
  args.claim_of = [](peer_id) {
    return claim{.who = {1}, .numbers_max = 9, .names = "x"};
  };
  EXPECT_EQ(ask(named("xy")).why, "the clients of this key are called 'x'");
  EXPECT_EQ(ask(named("x")).clients.size(), 1U);
}

} // namespace
} // namespace troupe::actors
