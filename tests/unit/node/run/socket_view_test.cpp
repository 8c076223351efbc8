// What metrics say of those who came to a server with keys.

#include "node/run/socket_view.hpp"

#include <gtest/gtest.h>

#include "tests/support/plain_socket.hpp"
#include "tests/unit/actors/transport/zmq/keyed_endpoint_fixture.hpp"

namespace troupe::transport {
namespace {

class socket_view : public keyed_endpoint {};

TEST_F(socket_view, has_one_result_of_each_who_came) {
  set(alice, key_standing::allowed);
  const auto server = serve();
  const auto listened = [&] {
    return node::status_of_server(*server, *refused).listened;
  };
  const auto friend_of_ours =
    dial_with(2, server->address(), dialler_keys{alice, own.open});
  friend_of_ours->send({5}, beat(1));
  ASSERT_EQ(at_server.wait_for(1).size(), 1U);
  test::plain_socket probe{server->address()};
  ASSERT_TRUE(probe.connected());
  probe.say_no_more();
  (void)probe.hear();
  EXPECT_TRUE(comes_to_be([&] { return listened().broken > 0; }));
  EXPECT_EQ(listened().broken, 1U);
  const auto stranger =
    dial_with(3, server->address(), dialler_keys{bob, own.open});
  EXPECT_EQ(first_refusal(), turned_away::our_key);
  stranger->close(); // It would dial again, and be turned away once more.
  set(bob, key_standing::expired);
  const auto late =
    dial_with(4, server->address(), dialler_keys{bob, own.open});
  EXPECT_TRUE(
    comes_to_be([&] { return refused_for(refusal::expired_key) > 0; }));
  late->close();
  EXPECT_GE(listened().refused, 2U);
  EXPECT_EQ(listened().unlike, 0U);
  // One without keys, that stays: who hangs up may be reset before it is read.
  test::plain_socket plain{server->address()};
  ASSERT_TRUE(plain.connected());
  EXPECT_EQ(plain.say(test::greeting_without_keys()), 64U);
  EXPECT_TRUE(comes_to_be([&] { return listened().unlike > 0; }));
  EXPECT_EQ(listened().unlike, 1U);
  EXPECT_EQ(listened().made, 1U);
  EXPECT_EQ(listened().lost, 0U);
}

// Who comes while its key cannot be read waits, and breaks off in the end.
TEST_F(socket_view, has_who_waited_in_vain_as_broken) {
  set(alice, key_standing::unsure);
  const auto server = serve();
  const auto client =
    dial_with(2, server->address(), dialler_keys{alice, own.open});
  client->send({5}, beat(1));
  EXPECT_TRUE(comes_to_be([&] { return server->counts().broken > 0; }));
  client->close();
  const auto found = node::status_of_server(*server, *refused);
  EXPECT_GE(found.listened.broken, 1U);
  EXPECT_EQ(found.listened.refused, 0U);
  EXPECT_EQ(found.listened.made, 0U);
  EXPECT_GE(found.refused.at("unreadable_key"), 1U);
}

} // namespace
} // namespace troupe::transport
