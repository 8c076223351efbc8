// Where what is said goes while a node begins, or ends.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/atom.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include "actors/client/link.hpp"
#include "actors/client/socket_hubs.hpp"
#include "core/limits.hpp"

namespace troupe::actors {
namespace {

class said_to final : public transport::endpoint {
public:
  std::size_t send(peer_id to, messages::any_message) override {
    all.push_back(to);
    return 1;
  }

  std::vector<peer_id> all;
};

struct hubs : testing::Test {
  hubs() {
    config.set("scheduler.policy", caf::atom("testing"));
    system.emplace(config);
  }

  ~hubs() override {
    server->close();
    inside->close();
    for (const auto& x : made)
      caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
    run();
  }

  void run() {
    dynamic_cast<caf::scheduler::test_coordinator&>(system->scheduler()).run();
  }

  /// Somebody who keeps what it hears.
  template <class Actor>
  Actor listener(std::vector<transport::frame_arrived>& to) {
    made.push_back(system->spawn(
      [](caf::event_based_actor*,
         std::vector<transport::frame_arrived>* all) -> caf::behavior {
        return {
          [all](const transport::frame_arrived& x) { all->push_back(x); }};
      },
      &to));
    return caf::actor_cast<Actor>(made.back());
  }

  static transport::frame_arrived asks(std::uint64_t link,
                                       std::uint64_t nonce) {
    const messages::any_message x = messages::terms_asked{.nonce = nonce};
    return {process_of(link), transport::frame{x}};
  }

  static std::uint64_t nonce_of(const transport::frame_arrived& x) {
    return std::get<messages::terms_asked>(**x.what.open()).nonce;
  }

  static transport::frame_arrived beat(std::uint64_t link) {
    const messages::any_message x = messages::beat{};
    return {transport::peer_of(link, {1}), transport::frame{x}};
  }

  caf::actor_system_config config;
  std::optional<caf::actor_system> system;
  std::vector<caf::actor> made;
  std::vector<transport::frame_arrived> heard;
  std::vector<transport::frame_arrived> of_gateway;
  std::shared_ptr<said_to> socket = std::make_shared<said_to>();
  std::shared_ptr<server_socket_hub> server =
    std::make_shared<server_socket_hub>();
  std::shared_ptr<in_process_hub> inside = std::make_shared<in_process_hub>();
};

TEST_F(hubs, hand_on_what_each_process_asked_last_before_the_reception_was) {
  server->use(socket);
  server->arrived(asks(7, 1));
  server->arrived(asks(8, 2));
  server->arrived(asks(7, 3));
  server->bind(listener<reception_actor>(heard));
  server->arrived(asks(8, 4));
  run();
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_EQ(heard[0].peer, process_of(7));
  EXPECT_EQ(nonce_of(heard[0]), 3U);
  EXPECT_EQ(nonce_of(heard[1]), 2U);
  EXPECT_EQ(nonce_of(heard[2]), 4U) << "it is said once";
}

TEST_F(hubs, hold_questions_of_the_newest_links_alone) {
  server->use(socket);
  for (std::uint64_t link = 1; link <= limits::links_max + 1; ++link)
    server->arrived(asks(link, link));
  server->bind(listener<reception_actor>(heard));
  run();
  ASSERT_EQ(heard.size(), limits::links_max);
  EXPECT_EQ(nonce_of(heard.front()), 2U);
}

// All of those together are bounded by it.
TEST_F(hubs, hold_no_question_that_is_large) {
  const auto of_size = [](std::size_t bytes) {
    return transport::frame_arrived{process_of(7),
                                    transport::frame{transport::buffer(bytes)}};
  };
  server->use(socket);
  server->arrived(of_size(limits::early_bytes_max));
  server->arrived(of_size(limits::early_bytes_max + 1));
  server->bind(listener<reception_actor>(heard));
  run();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard.front().what.size(), limits::early_bytes_max)
    << "a large one is held";
}

// A run may end while its node is made anew.
TEST_F(hubs, greet_nobody_once_they_are_closed) {
  server->use(socket);
  server->arrived(beat(7));
  server->bind(listener<gateway_actor>(of_gateway));
  EXPECT_EQ(socket->all, std::vector{process_of(7)});
  server->close();
  server->bind(listener<gateway_actor>(of_gateway));
  EXPECT_EQ(socket->all.size(), 1U);
  server->arrived(beat(7));
  run();
  EXPECT_TRUE(of_gateway.empty()) << "it holds whom nobody would end";
}

// At first clients come by themselves.
TEST_F(hubs, greet_clients_of_this_process_when_a_node_begins_again) {
  inside->connect({1}, listener<client_actor>(heard));
  inside->bind(listener<gateway_actor>(of_gateway));
  run();
  EXPECT_TRUE(heard.empty());
  inside->hold();
  inside->bind(listener<gateway_actor>(of_gateway));
  run();
  EXPECT_TRUE(heard.empty()) << "the instant is not over";
  EXPECT_TRUE(inside->release());
  run();
  ASSERT_EQ(heard.size(), 1U);
  const auto said = heard[0].what.open();
  EXPECT_EQ(std::get<messages::farewell>(**said).reason,
            messages::farewell_reason::no_session);
}

} // namespace
} // namespace troupe::actors
