// Who dialled, and hears nothing over a connection that looks as it should.

#include <gtest/gtest.h>

#include <chrono>

#include "actors/transport/zmq/socket_endpoint.hpp"
#include "tests/support/ear.hpp"

namespace troupe::transport {
namespace {

// A way may have forgotten it, and then nothing says so.
TEST(socket_endpoint, dials_anew_where_an_open_link_is_silent_for_too_long) {
  ear at_server;
  ear at_client;
  const auto server =
    socket_endpoint::listen(options_of(at_server, "tcp://127.0.0.1:*", 1));
  ASSERT_TRUE(server);
  auto how = options_of(at_client, (*server)->address(), 2);
  how.patience.open_max = std::chrono::seconds{1};
  const auto client = socket_endpoint::dial(std::move(how));
  ASSERT_TRUE(client);
  (*client)->send({5}, beat(1));
  const auto heard = at_server.wait_for(1);
  ASSERT_EQ(heard.size(), 1U);
  ASSERT_TRUE(comes_to_be([&] {
    (*server)->send(heard[0].peer, beat(2));
    return !at_client.wait_for(0).empty();
  }))
    << "it is not open";
  const auto before = (*client)->counts().dialled_anew.load();
  EXPECT_TRUE(
    comes_to_be([&] { return (*client)->counts().dialled_anew > before; }));
  // It goes on over the next one; with the one before a small frame may go.
  at_server.forget();
  EXPECT_TRUE(comes_to_be([&] {
    (*client)->send({5}, beat(3));
    return !at_server.wait_for(0).empty();
  }));
  EXPECT_EQ((*server)->counts().connections, 1U) << "that is the same link";
}

} // namespace
} // namespace troupe::transport
