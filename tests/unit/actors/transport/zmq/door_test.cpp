// Who comes while nobody can say what its key may do.

#include <cstdint>
#include <cstring>
#include <vector>

#include "actors/transport/zmq/door.hpp"
#include "actors/transport/zmq/set_up.hpp"
#include "tests/unit/actors/transport/zmq/keyed_endpoint_fixture.hpp"

namespace troupe::transport {
namespace {

/// As a monitor says what became of a handshake; 0: nothing for long.
std::uint16_t next_event(zmq::socket_t& monitor) {
  std::vector<zmq::pollitem_t> items{{monitor.handle(), 0, ZMQ_POLLIN, 0}};
  zmq::poll(items, patience);
  zmq::message_t said;
  std::uint16_t out = 0;
  if (monitor.recv(said, zmq::recv_flags::dontwait)
      && said.size() >= sizeof out)
    std::memcpy(&out, said.data(), sizeof out);
  return out;
}

// Of itself libzmq lets all in then, with any key.
TEST_F(keyed_endpoint, lets_nobody_in_where_nobody_is_there_to_be_asked) {
  zmq::context_t another = lean_context();
  const auto all = [](const public_key&) { return key_standing::allowed; };
  const door testee{another, {own, all, all}, refused};
  zmq::context_t context = lean_context();
  zmq::socket_t server{context, zmq::socket_type::router};
  set_up_server(server, "tcp://127.0.0.1:*");
  testee.guard(server);
  ASSERT_EQ(zmq_socket_monitor(server.handle(), "inproc://seen",
                               ZMQ_EVENT_HANDSHAKE_SUCCEEDED
                                 | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL),
            0);
  zmq::socket_t monitor{context, zmq::socket_type::pair};
  monitor.connect("inproc://seen");
  server.bind("tcp://127.0.0.1:*");
  zmq::socket_t client{context, zmq::socket_type::dealer};
  client.set(zmq::sockopt::linger, 0);
  use_keys(client, alice, own.open);
  client.connect(server.get(zmq::sockopt::last_endpoint));
  EXPECT_EQ(next_event(monitor), ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL);
}

// Some seconds later, and over the same connection.
TEST_F(keyed_endpoint, lets_in_later_whose_file_cannot_be_read_just_now) {
  set(alice, key_standing::unsure);
  const auto server = serve();
  const auto client =
    dial_with(2, server->address(), dialler_keys{alice, own.open});
  client->send({5}, beat(1));
  EXPECT_TRUE(comes_to_be([&] { return read > 0; }));
  set(alice, key_standing::allowed);
  EXPECT_EQ(at_server.wait_for(1).size(), 1U);
  client->close();
  EXPECT_TRUE(away.empty());
  EXPECT_EQ(client->counts().broken, 0U);
  EXPECT_EQ(refused_for(refusal::unknown_key), 0U);
  EXPECT_EQ(refused_for(refusal::unreadable_key), 1U);
}

TEST_F(keyed_endpoint, lets_others_in_while_somebody_waits_at_its_door) {
  set(alice, key_standing::unsure);
  set(bob, key_standing::allowed);
  const auto server = serve();
  const auto waits =
    dial_with(2, server->address(), dialler_keys{alice, own.open});
  waits->send({5}, beat(1));
  EXPECT_TRUE(comes_to_be([&] { return read > 0; }));
  const auto other =
    dial_with(3, server->address(), dialler_keys{bob, own.open});
  other->send({5}, beat(2));
  const auto heard = at_server.wait_for(1);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(client_of(heard[0]), 2U);
  EXPECT_EQ(waits->counts().broken, 0U) << "it waits yet";
  set(alice, key_standing::allowed);
  EXPECT_EQ(at_server.wait_for(2).size(), 2U);
}

TEST_F(keyed_endpoint, is_dialled_again_by_who_waited_in_vain) {
  set(alice, key_standing::unsure);
  const auto server = serve();
  const auto client =
    dial_with(2, server->address(), dialler_keys{alice, own.open});
  client->send({5}, beat(1));
  (void)comes_to_be([&] { return client->counts().broken > 0; });
  EXPECT_EQ(client->counts().broken, 1U);
  set(alice, key_standing::allowed);
  EXPECT_EQ(at_server.wait_for(1).size(), 1U);
  client->close();
  EXPECT_TRUE(away.empty());
}

} // namespace
} // namespace troupe::transport
