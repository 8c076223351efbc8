// Who comes while nobody can say what its key may do.

#include "tests/unit/actors/transport/zmq/keyed_endpoint_fixture.hpp"

namespace troupe::transport {
namespace {

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
