#include "tests/unit/actors/transport/zmq/keyed_endpoint_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <variant>

#include "tests/support/altering_relay.hpp"

namespace troupe::transport {
namespace {

/// After which a server asks again who somebody is.
constexpr std::chrono::milliseconds door_memory{600};

TEST_F(keyed_endpoint, lets_in_whom_it_knows_and_says_who_it_is) {
  set(alice, key_standing::allowed);
  const auto server = serve();
  const auto client =
    dial_with(2, server->address(), dialler_keys{alice, own.open});
  client->send({5}, beat(11));
  const auto heard = at_server.wait_for(1);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(server->key_of(heard[0].peer), alice.open);
  server->send(heard[0].peer, beat(12));
  EXPECT_EQ(at_client.wait_for(1).size(), 1U);
}

TEST_F(keyed_endpoint, lets_in_nobody_else) {
  set(bob, key_standing::expired);
  const auto server = serve();
  const auto stranger =
    dial_with(2, server->address(), dialler_keys{alice, own.open});
  stranger->send({5}, beat(11));
  EXPECT_EQ(first_refusal(), turned_away::our_key);
  stranger->close(); // It would dial again, and be turned away once more.
  away.clear();
  const auto late =
    dial_with(3, server->address(), dialler_keys{bob, own.open});
  EXPECT_EQ(first_refusal(), turned_away::our_key);
  EXPECT_EQ(refused_for(refusal::unknown_key), 1U);
  EXPECT_EQ(refused_for(refusal::expired_key), 1U);
  EXPECT_EQ(server->counts().bytes_in, 0U);
}

// What both sides speak is said there, as all else.
TEST_F(keyed_endpoint, hears_nothing_that_was_altered_on_its_way) {
  set(alice, key_standing::allowed);
  const auto server = serve();
  test::altering_relay relay{server->address()};
  relay.alter(true);
  const auto client =
    dial_with(2, relay.address(), dialler_keys{alice, own.open});
  client->send({5}, beat(11));
  // Whose handshake comes to nothing is told so after ten seconds.
  for (int i = 0; i < 1200 && relay.altered() < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  EXPECT_GE(relay.altered(), 2);
  EXPECT_EQ(server->counts().bytes_in, 0U);
  EXPECT_EQ(server->counts().made, 0U);
  relay.alter(false);
  const auto heard = at_server.wait_for(1);
  ASSERT_FALSE(heard.empty());
  EXPECT_EQ(server->key_of(heard[0].peer), alice.open);
}

TEST_F(keyed_endpoint, hears_so_many_frames_of_a_key_however_many_it_says) {
  set(alice, key_standing::allowed);
  set(bob, key_standing::allowed);
  const auto server = serve(40);
  // By whatever connection it says them.
  const auto first =
    dial_with(2, server->address(), dialler_keys{alice, own.open});
  const auto second =
    dial_with(3, server->address(), dialler_keys{alice, own.open});
  for (std::uint64_t i = 1; i <= 300; ++i) {
    first->send({i}, beat(i));
    second->send({i}, beat(i));
  }
  EXPECT_GT(refused_for(refusal::too_many_frames, 1), 0U);
  at_server.forget();
  const auto other =
    dial_with(4, server->address(), dialler_keys{bob, own.open});
  other->send({5}, beat(7));
  EXPECT_TRUE(comes_to_be([&] {
    return std::ranges::any_of(at_server.wait_for(0), [&](const auto& x) {
      return server->key_of(x.peer) == bob.open;
    });
  }))
    << "another key has its own";
  EXPECT_TRUE(
    comes_to_be([&] { return server->counts().bytes_in > 300U * 40; }))
    << "they did arrive";
}

TEST_F(keyed_endpoint, is_not_found_under_another_key_or_without_one) {
  set(alice, key_standing::allowed);
  const auto server = serve();
  const auto misled =
    dial_with(2, server->address(), dialler_keys{alice, bob.open});
  EXPECT_EQ(first_refusal(), turned_away::their_key);
  const auto plain = dial_with(3, server->address(), std::nullopt);
  plain->send({5}, beat(11));
  EXPECT_GE(refused_for(refusal::no_key, 2), 2U);
  EXPECT_EQ(server->counts().bytes_in, 0U);
}

TEST_F(keyed_endpoint, changes_its_pair_and_links_go_on) {
  set(alice, key_standing::allowed);
  set(bob, key_standing::allowed);
  const auto server = serve();
  const auto told =
    dial_with(2, server->address(), dialler_keys{alice, own.open});
  const auto untold =
    dial_with(3, server->address(), dialler_keys{bob, own.open});
  told->send({5}, beat(1));
  untold->send({5}, beat(2));
  const auto before = at_server.wait_for(2);
  ASSERT_EQ(before.size(), 2U);
  EXPECT_EQ(server->listens_with(), own.open);
  const auto peer = client_of(before[0]) == 1 ? before[0].peer : before[1].peer;
  const auto next = pair(9);
  server->announce(peer.value >> 32U, {next.open, 1000});
  ASSERT_TRUE(comes_to_be([&] {
    const std::lock_guard guard{mutex};
    return heard_of == next.open;
  }));
  const auto address = server->address();
  server->listen_with(next);
  ASSERT_TRUE(comes_to_be([&] { return server->listens_with() == next.open; }));
  EXPECT_EQ(server->address(), address);
  at_server.forget();
  // What is said meanwhile waits for the connection that comes.
  server->send(peer, beat(12));
  EXPECT_EQ(at_client.wait_for(1).size(), 1U);
  told->send({5}, beat(3));
  const auto after = at_server.wait_for(1);
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(client_of(after[0]), 3U);
  EXPECT_EQ(after[0].peer, peer) << "the link is the same";
  EXPECT_EQ(first_refusal(), turned_away::by_another) << "who was not told";
  EXPECT_EQ(at_server.wait_for(1).size(), 1U);
}

TEST_F(keyed_endpoint, is_found_under_whichever_key_it_has) {
  set(alice, key_standing::allowed);
  const auto server = serve();
  std::vector<public_key> met;
  auto x = options_of(at_client, server->address(), 2);
  x.keys = dialler_keys{alice, pair(8).open, {pair(9).open, own.open}};
  x.away = [this](turned_away why) {
    const std::lock_guard guard{mutex};
    away.push_back(why);
  };
  x.met = [&](const public_key& who) {
    const std::lock_guard guard{mutex};
    met.push_back(who);
  };
  const auto client = *socket_endpoint::dial(std::move(x));
  client->send({5}, beat(1));
  EXPECT_EQ(at_server.wait_for(1).size(), 1U);
  client->close();
  EXPECT_EQ(met, std::vector{own.open});
  EXPECT_TRUE(away.empty());
}

TEST_F(keyed_endpoint, has_none_of_the_keys_that_it_may_have) {
  set(alice, key_standing::allowed);
  const auto server = serve();
  const auto client = dial_with(
    2, server->address(), dialler_keys{alice, pair(8).open, {pair(9).open}});
  EXPECT_EQ(first_refusal(), turned_away::their_key);
  // The server's monitor may say so a moment later than the client's.
  EXPECT_GE(refused_for(refusal::no_key, 6), 6U) << "three times each";
}

TEST_F(keyed_endpoint, hears_no_more_of_who_is_denied) {
  set(alice, key_standing::allowed);
  set(bob, key_standing::allowed);
  const auto server = serve();
  const auto first =
    dial_with(2, server->address(), dialler_keys{alice, own.open});
  const auto second =
    dial_with(3, server->address(), dialler_keys{bob, own.open});
  first->send({5}, beat(1));
  second->send({5}, beat(2));
  ASSERT_EQ(at_server.wait_for(2).size(), 2U);
  at_server.forget();
  set(alice, key_standing::unknown);
  std::this_thread::sleep_for(door_memory);
  first->send({5}, beat(3));
  (void)refused_for(refusal::denied_key, 1);
  second->send({5}, beat(4));
  const auto heard = at_server.wait_for(1);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(client_of(heard[0]), 4U);
  EXPECT_GE(refused_for(refusal::denied_key), 1U);
}

// It may be silent, and its connection cannot be closed.
TEST_F(keyed_endpoint, tells_who_is_denied_that_it_is_and_nothing_else) {
  set(alice, key_standing::allowed);
  const auto server = serve();
  const auto client =
    dial_with(2, server->address(), dialler_keys{alice, own.open});
  client->send({5}, beat(1));
  const auto heard = at_server.wait_for(1);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(server->look().connected, 1U);
  set(alice, key_standing::unknown);
  server->look_at_keys(); // Long before what is remembered of it is too old.
  const auto told = at_client.wait_for(1);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].peer, peer_id{}) << "the process itself";
  const auto word = opened(told[0]);
  ASSERT_TRUE(std::holds_alternative<messages::farewell>(word));
  EXPECT_EQ(std::get<messages::farewell>(word).reason,
            messages::farewell_reason::refused);
  server->send(heard[0].peer, beat(2));
  server->look_at_keys();
  client->send({5}, beat(3));
  EXPECT_GE(refused_for(refusal::denied_key, 1), 1U);
  EXPECT_EQ(at_server.wait_for(1).size(), 1U);
  EXPECT_EQ(at_client.wait_for(1).size(), 1U);
  EXPECT_EQ(server->look().connected, 0U) << "it is as good as gone";
}

// A disk may be slow, and keys many.
TEST_F(keyed_endpoint, reads_files_of_who_comes_alone) {
  set(alice, key_standing::allowed);
  set(bob, key_standing::allowed);
  const auto server = serve();
  const auto first =
    dial_with(2, server->address(), dialler_keys{alice, own.open});
  const auto second =
    dial_with(3, server->address(), dialler_keys{bob, own.open});
  first->send({5}, beat(1));
  second->send({5}, beat(2));
  ASSERT_EQ(at_server.wait_for(2).size(), 2U);
  std::this_thread::sleep_for(door_memory);
  set(bob, key_standing::unknown);
  server->look_at_keys();
  EXPECT_EQ(at_client.wait_for(1).size(), 1U) << "it is denied";
  first->send({5}, beat(3));
  EXPECT_EQ(at_server.wait_for(3).size(), 3U);
  EXPECT_EQ(read, 2);
}

TEST_F(keyed_endpoint, hears_at_once_who_is_denied_and_comes_in_again) {
  set(alice, key_standing::allowed);
  const auto server = serve();
  const auto before =
    dial_with(2, server->address(), dialler_keys{alice, own.open});
  before->send({5}, beat(1));
  ASSERT_EQ(at_server.wait_for(1).size(), 1U);
  set(alice, key_standing::unknown);
  server->look_at_keys();
  ASSERT_EQ(at_client.wait_for(1).size(), 1U);
  set(alice, key_standing::allowed);
  const auto after =
    dial_with(3, server->address(), dialler_keys{alice, own.open});
  after->send({5}, beat(2));
  EXPECT_EQ(at_server.wait_for(2).size(), 2U);
}

TEST_F(keyed_endpoint, hears_one_channel_of_who_is_invited) {
  set(alice, key_standing::invited);
  const auto server = serve();
  const auto client =
    dial_with(2, server->address(), dialler_keys{alice, own.open});
  client->send({5}, beat(1));
  (void)refused_for(refusal::beyond_enrolment, 1);
  client->send({0}, beat(2));
  const auto heard = at_server.wait_for(1);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(client_of(heard[0]), 2U);
  EXPECT_EQ(refused_for(refusal::beyond_enrolment), 1U);
  messages::line_served large;
  large.blocks.push_back({{1}, share(std::vector<float>(100'000, 0.5F))});
  client->send({0}, large);
  EXPECT_EQ(refused_for(refusal::beyond_enrolment, 2), 2U) << "not even begun";
}

} // namespace
} // namespace troupe::transport
