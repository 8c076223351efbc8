#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "actors/transport/places.hpp"
#include "actors/transport/zmq/pieces.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"
#include "core/clock.hpp"
#include "tests/support/ear.hpp"
#include "tests/support/plain_socket.hpp"

// Real sockets on loopback, each wait with an end.

namespace troupe::transport::socket_endpoint_test {
namespace {

using messages::any_message;

std::shared_ptr<socket_endpoint>
listen(ear& heard, std::uint64_t instance,
       std::string address = "tcp://127.0.0.1:*") {
  auto made =
    socket_endpoint::listen(options_of(heard, std::move(address), instance));
  EXPECT_TRUE(made) << (made ? "" : made.error().context);
  return made ? *made : nullptr;
}

std::shared_ptr<socket_endpoint> dial(ear& heard, std::uint64_t instance,
                                      const std::string& address) {
  auto made = socket_endpoint::dial(options_of(heard, address, instance));
  EXPECT_TRUE(made);
  return made ? *made : nullptr;
}

/// Served values, `n` of them.
any_message served(std::uint64_t line, std::size_t n) {
  messages::line_served x;
  x.line = {line};
  x.blocks.push_back({{1}, share(std::vector<float>(n, 0.5F))});
  return x;
}

TEST(socket_endpoint, brings_frames_of_many_processes_and_back) {
  ear at_server;
  ear at_first;
  ear at_second;
  const auto server = listen(at_server, 1);
  const auto first = dial(at_first, 2, server->address());
  const auto second = dial(at_second, 3, server->address());
  first->send({5}, beat(11));
  second->send({5}, beat(12));
  const auto heard = at_server.wait_for(2);
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_NE(heard[0].peer, heard[1].peer);
  for (const auto& x : heard)
    server->send(x.peer, beat(client_of(x) + 100));
  const auto back = at_first.wait_for(1);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].peer, peer_id{5});
  EXPECT_EQ(client_of(back[0]), 111U);
  ASSERT_EQ(at_second.wait_for(1).size(), 1U);
  EXPECT_EQ(client_of(at_second.wait_for(1)[0]), 112U);
  EXPECT_EQ(server->counts().connections, 2U);
  EXPECT_EQ(server->counts().pieces_malformed, 0U);
}

TEST(socket_endpoint, brings_what_is_large_behind_what_is_small) {
  ear at_server;
  ear at_client;
  auto server = listen(at_server, 1);
  const auto address = server->address();
  server->close(); // All of it waits then.
  server.reset();
  const auto client = dial(at_client, 2, address);
  constexpr std::size_t n = 5'000'000; // 20 MB, past any credit.
  client->send({5}, served(1, n));
  client->send({5}, served(2, n));
  client->send({5}, beat(3));
  server = listen(at_server, 4, address);
  const auto heard = at_server.wait_for(3);
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_EQ(client_of(heard[0]), 3U);
  for (std::uint64_t i : {1, 2}) {
    const auto message = opened(heard[i]);
    const auto& x = std::get<messages::line_served>(message);
    EXPECT_EQ(x.line, line_id{i});
    EXPECT_EQ(*x.blocks.at(0).values, std::vector<float>(n, 0.5F));
  }
  EXPECT_GT(client->counts().bytes_out, 2 * n * sizeof(float));
}

std::uint64_t sum(const piece_counts& x) {
  std::uint64_t out = 0;
  for (const auto& bytes : x.bytes)
    out += bytes;
  return out;
}

std::uint64_t bytes_of(const piece_counts& x, crossing what) {
  return x.bytes[static_cast<std::size_t>(what)];
}

TEST(socket_endpoint, knows_of_all_bytes_what_they_are) {
  ear at_server;
  ear at_client;
  const auto server = listen(at_server, 1);
  const auto client = dial(at_client, 2, server->address());
  constexpr std::size_t n = 100'000;
  client->send({5}, beat(1));
  (void)at_server.wait_for(1); // Or it would cross with the next.
  client->send({5}, served(1, 10));
  client->send({5}, served(2, n));
  (void)at_server.wait_for(3);
  client->drain(patience); // What is under way is not said again.
  client->send({5}, served(2, n));
  const auto heard = at_server.wait_for(4);
  ASSERT_EQ(heard.size(), 4U);
  server->send(heard[0].peer, beat(2));
  (void)at_client.wait_for(1);
  server->close();
  client->close();
  for (const auto* x : {&server->counts(), &client->counts()}) {
    EXPECT_EQ(sum(x->in), x->bytes_in);
    EXPECT_EQ(sum(x->out), x->bytes_out);
  }
  for (const auto* x : {&client->counts().out, &server->counts().in}) {
    EXPECT_GT(bytes_of(*x, crossing::values), n * sizeof(float));
    EXPECT_LT(bytes_of(*x, crossing::values), n * sizeof(float) + 1000);
    EXPECT_GT(bytes_of(*x, crossing::said_again), n * sizeof(float));
    EXPECT_GT(bytes_of(*x, crossing::small), 0U);
    EXPECT_GT(bytes_of(*x, crossing::link), 0U);
  }
  EXPECT_EQ(bytes_of(client->counts().in, crossing::values), 0U);
}

TEST(socket_endpoint, finds_a_server_that_comes_later_and_one_that_came_back) {
  ear at_server;
  ear at_client;
  auto server = listen(at_server, 1);
  const auto address = server->address();
  const auto client = dial(at_client, 2, address);
  client->send({5}, beat(1));
  ASSERT_EQ(at_server.wait_for(1).size(), 1U);
  server->close();
  server.reset();
  client->send({5}, served(8, 100'000)); // For the one that is gone.
  at_server.forget();
  server = listen(at_server, 3, address);
  // Small frames may be lost with a connection.
  for (int i = 0; i < 300 && at_server.wait_for(0).empty(); ++i) {
    client->send({5}, beat(2));
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  }
  at_server.forget();
  client->send({5}, served(9, 100'000));
  const auto line_in = [](const frame_arrived& x) {
    const auto message = opened(x);
    const auto* found = std::get_if<messages::line_served>(&message);
    return found ? found->line : line_id{};
  };
  auto heard = at_server.wait_for(1);
  for (std::size_t n = 2;
       n <= 300 && !heard.empty() && line_in(heard.back()) == line_id{}; ++n)
    heard = at_server.wait_for(n);
  ASSERT_FALSE(heard.empty());
  EXPECT_EQ(line_in(heard.back()), line_id{9});
  // It is another conversation, whose peers are of this server.
  server->send(heard.back().peer, beat(4));
  ASSERT_EQ(at_client.wait_for(1).size(), 1U);
  EXPECT_EQ(client_of(at_client.wait_for(1)[0]), 4U);
}

/// As ZMTP 3.0 begins, for a handshake that we do not know.
std::string greeting_of_another_mechanism() {
  std::string out{"\xff\0\0\0\0\0\0\0\x01\x7f\x03\0PLAIN", 17};
  out.resize(64, '\0');
  return out;
}

// ZeroMQ tries no more where something else has answered.
TEST(socket_endpoint, finds_a_server_where_something_else_has_answered) {
  ear at_server;
  ear at_client;
  std::shared_ptr<socket_endpoint> client;
  {
    test::plain_listener other;
    auto how = options_of(at_client, "tcp://" + other.address(), 2);
    how.patience.unopened_max = std::chrono::milliseconds{300};
    client = *socket_endpoint::dial(std::move(how));
    client->send({5}, beat(1));
    EXPECT_TRUE(other.answer(greeting_of_another_mechanism()));
  }
  const auto server = listen(at_server, 1, client->address());
  ASSERT_EQ(at_server.wait_for(1).size(), 1U);
  EXPECT_GT(client->counts().dialled_anew, 0U);
}

TEST(socket_endpoint, has_room_for_what_is_large_where_there_is_a_session) {
  ear at_server;
  ear at_client;
  auto how = options_of(at_server, "tcp://127.0.0.1:*", 1);
  how.stranger_bytes_max = 4096;
  const auto server = socket_endpoint::listen(std::move(how));
  ASSERT_TRUE(server);
  const auto client = dial(at_client, 2, (*server)->address());
  client->send({5}, served(1, 1'000'000));
  auto heard = at_server.wait_for(1);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_TRUE(heard[0].what.is_left_out());
  client->drain(patience); // Until it has heard so.
  EXPECT_LT((*server)->counts().bytes_in, 1000U);
  (*server)->has_session(heard[0].peer);
  client->send({5}, served(2, 1'000'000));
  heard = at_server.wait_for(2);
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(std::get<messages::line_served>(opened(heard[1])).line, line_id{2});
  EXPECT_EQ((*server)->counts().pieces_malformed, 0U);
}

// Whoever was there may be back in a moment, and who is not is missed.
TEST(socket_endpoint, says_of_a_lost_connection_nothing_to_anybody) {
  ear at_server;
  ear at_first;
  ear at_second;
  const auto server = listen(at_server, 1);
  const auto first = dial(at_first, 2, server->address());
  const auto second = dial(at_second, 3, server->address());
  first->send({5}, beat(11));
  ASSERT_EQ(at_server.wait_for(1).size(), 1U);
  second->send({5}, beat(12));
  const auto heard = at_server.wait_for(2);
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(server->look().connected, 2U);
  first->close();
  const auto end = steady_now() + patience;
  while (server->look().connected > 1 && steady_now() < end) {
    server->send(heard[0].peer, beat(1)); // By this it shows.
    std::this_thread::yield();
  }
  EXPECT_EQ(server->look().connected, 1U);
  second->send({5}, beat(13));
  const auto all = at_server.wait_for(3);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(client_of(all[2]), 13U);
}

TEST(socket_endpoint, gives_the_room_of_who_died_to_others) {
  ear at_server;
  ear at_first;
  ear at_second;
  auto how = options_of(at_server, "tcp://127.0.0.1:*", 1);
  how.unhandled_bytes_max = 1 << 20;
  const auto server = socket_endpoint::listen(std::move(how));
  ASSERT_TRUE(server);
  const auto first = dial(at_first, 2, (*server)->address());
  first->send({5}, served(1, 50'000'000)); // It dies in the middle of it.
  while ((*server)->counts().bytes_in < 1'000'000)
    std::this_thread::yield();
  first->close();
  const auto second = dial(at_second, 3, (*server)->address());
  second->send({5}, served(2, 100'000));
  const auto heard = at_server.wait_for(1);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(std::get<messages::line_served>(opened(heard[0])).line, line_id{2});
}

piece opened_by(std::uint64_t instance) {
  auto x = make_piece(piece_kind::opened, {}, {});
  opening what;
  what.instance = instance;
  x.body = body_of(what);
  return x;
}

TEST(socket_endpoint, counts_a_connection_once_whatever_is_said_over_it) {
  ear at_server;
  const auto server = listen(at_server, 1);
  zmq::context_t context;
  zmq::socket_t plain{context, zmq::socket_type::dealer};
  plain.set(zmq::sockopt::linger, 0);
  plain.connect(server->address());
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(send_piece(plain, {}, opened_by(7)), sending::done);
  const auto& heard =
    server->counts().in.pieces[static_cast<std::size_t>(crossing::link)];
  (void)comes_to_be([&] { return heard >= 3; });
  EXPECT_EQ(heard, 3U);
  EXPECT_EQ(server->counts().made, 1U);
  EXPECT_EQ(server->counts().lost, 0U);
}

TEST(places, of_a_connection_are_one_and_come_back_by_their_instance) {
  places all{[](std::uint64_t number, const auto&) {
    link_end::options x;
    x.in.bytes_max = [](std::uint16_t) { return std::uint64_t{100}; };
    x.in.room = std::make_shared<held_bytes>(100);
    x.in.landing = std::make_shared<landing_pool>(100);
    x.instance = number;
    return x;
  }};
  EXPECT_EQ(all.of("a", {}, make_piece(piece_kind::framed, {}, {})), nullptr);
  auto* first = all.of("a", {}, opened_by(7));
  ASSERT_NE(first, nullptr);
  (void)first->link.heard(opened_by(7));
  EXPECT_EQ(all.of("a", {}, opened_by(7)), first);
  EXPECT_EQ(all.of("a", {}, opened_by(8)), nullptr) << "one link a connection";
  EXPECT_EQ(all.of("b", {}, opened_by(7)), first) << "it came back";
  EXPECT_NE(all.of("c", "key", opened_by(7)), first) << "that is another key's";
  EXPECT_EQ(first->route, "b");
  EXPECT_EQ(all.of("a", {}, make_piece(piece_kind::framed, {}, {})), nullptr);
  all.lost(*first, {});
  EXPECT_EQ(all.of("b", {}, make_piece(piece_kind::framed, {}, {})), nullptr);
  // The one that was silent for longest makes room.
  const auto number = first->number;
  for (std::uint64_t i = 100; i < 100 + limits::links_max; ++i) {
    auto* x = all.of("r" + std::to_string(i), {}, opened_by(i));
    ASSERT_NE(x, nullptr);
    x->heard = i;
    (void)x->link.heard(opened_by(i));
  }
  EXPECT_EQ(all.find(number), nullptr);
  EXPECT_EQ(all.all().size(), limits::links_max);
}

TEST(places, of_one_key_are_so_many_and_take_no_other_s) {
  places all{[](std::uint64_t number, const auto& room) {
               link_end::options x;
               x.in.bytes_max = [](std::uint16_t) {
                 return std::uint64_t{100};
               };
               x.in.room = room;
               x.instance = number;
               return x;
             },
             std::make_shared<held_bytes>(1000)};
  auto come = [&, heard = std::uint64_t{0}](std::uint64_t i,
                                            const char* key) mutable {
    auto* x = all.of("r" + std::to_string(i), key, opened_by(i));
    EXPECT_NE(x, nullptr);
    x->heard = ++heard;
    (void)x->link.heard(opened_by(i));
    return x->number;
  };
  const auto honest = come(1, "honest");
  const auto first = come(2, "greedy");
  for (std::uint64_t i = 3; i < 2 * limits::links_per_key_max; ++i)
    come(i, "greedy");
  EXPECT_NE(all.find(honest), nullptr);
  EXPECT_EQ(all.find(first), nullptr);
  EXPECT_EQ(all.all().size(), limits::links_per_key_max + 1);
  const auto seen = all.look({});
  EXPECT_EQ(seen.connected, limits::links_per_key_max + 1);
  EXPECT_EQ(seen.behind, 0U);
  all.find(honest)->busy_since = std::chrono::seconds{3};
  EXPECT_EQ(all.look(std::chrono::seconds{4}).behind, 1U);
  EXPECT_EQ(all.look(std::chrono::seconds{3}).behind, 0U);
  all.find(honest)->spoke_at = std::chrono::seconds{60};
  EXPECT_EQ(all.look(std::chrono::seconds{120}).connected, 1U)
    << "who has said nothing for long is not there";
}

TEST(socket_endpoint, says_what_it_cannot_listen_at) {
  ear heard;
  const auto first = listen(heard, 1);
  const auto taken =
    socket_endpoint::listen(options_of(heard, first->address(), 2));
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().context,
              ::testing::AllOf(::testing::HasSubstr("cannot listen at 'tcp://"),
                               ::testing::HasSubstr("in use")));
  EXPECT_FALSE(socket_endpoint::listen(options_of(heard, "nowhere", 2)));
  EXPECT_FALSE(socket_endpoint::dial(options_of(heard, "tcp://", 2)));
}

} // namespace
} // namespace troupe::transport::socket_endpoint_test
