#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "actors/transport/landing_pool.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"
#include "core/clock.hpp"
#include "tests/support/ear.hpp"

// Over real sockets a byte of an offer is copied once on either side as well:
// into the socket, and to where it stays (copies_test.cpp, pieces_test.cpp).

namespace troupe::transport::socket_copies_test {
namespace {

constexpr std::size_t values = 500'000; ///< Several chunks.

/// Two blocks of the same values.
messages::offer_made offer_of(const shared_values& delta) {
  messages::offer_made out;
  out.pass.visit = {{1}, {1}};
  for (std::uint64_t block : {1, 2}) {
    messages::offer_block part;
    part.block = {block};
    part.delta = delta;
    out.blocks.push_back(std::move(part));
  }
  return out;
}

long holders_of(const shared_values& x) {
  return x.owner().use_count();
}

TEST(socket_copies, who_sends_holds_the_values_themselves_until_all_is_there) {
  ear at_server;
  ear at_client;
  auto server =
    socket_endpoint::listen(options_of(at_server, "tcp://127.0.0.1:*", 1));
  ASSERT_TRUE(server);
  const auto address = (*server)->address();
  (*server)->close(); // All of it waits then.
  *server = nullptr;
  const auto client = socket_endpoint::dial(options_of(at_client, address, 2));
  ASSERT_TRUE(client);
  const auto delta = share(std::vector<float>(values, 0.5F));
  (*client)->send({5}, offer_of(delta));
  EXPECT_GE(holders_of(delta), 3) << "one for each block";
  server = socket_endpoint::listen(options_of(at_server, address, 3));
  ASSERT_TRUE(server);
  EXPECT_EQ(at_server.wait_for(1).size(), 1U);
  const auto end = steady_now() + patience;
  while (holders_of(delta) > 1 && steady_now() < end)
    std::this_thread::yield();
  EXPECT_EQ(holders_of(delta), 1);
}

TEST(socket_copies, who_receives_has_them_where_they_landed) {
  ear at_server;
  ear at_client;
  const auto server =
    socket_endpoint::listen(options_of(at_server, "tcp://127.0.0.1:*", 1));
  ASSERT_TRUE(server);
  const auto client =
    socket_endpoint::dial(options_of(at_client, (*server)->address(), 2));
  ASSERT_TRUE(client);
  (*client)->send({5}, offer_of(share(std::vector<float>(values, 0.5F))));
  const auto heard = at_server.wait_for(1);
  ASSERT_EQ(heard.size(), 1U);
  const auto message = heard[0].what.open();
  ASSERT_TRUE(message);
  const auto& blocks = std::get<messages::offer_made>(**message).blocks;
  ASSERT_EQ(blocks.size(), 2U);
  // One after the other, as they were sent: nothing has moved them since.
  const auto* first = blocks[0].delta->data();
  const auto* second = blocks[1].delta->data();
  EXPECT_GT(second - first, static_cast<std::ptrdiff_t>(values));
  EXPECT_LT(second - first, static_cast<std::ptrdiff_t>(values + 64));
  EXPECT_EQ(blocks[0].delta.owner(), blocks[1].delta.owner());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % landing_pool::alignment,
            0U);
  EXPECT_EQ(*blocks[1].delta, std::vector<float>(values, 0.5F));
}

} // namespace
} // namespace troupe::transport::socket_copies_test
