#pragma once

// A server's and its clients' side of one run, that meet over real sockets on
// loopback and not in memory.

#include <memory>

#include <gtest/gtest.h>

#include "actors/client/socket_hubs.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"

namespace troupe::test {

struct socket_pair {
  std::shared_ptr<actors::server_socket_hub> server =
    std::make_shared<actors::server_socket_hub>();
  std::shared_ptr<actors::client_socket_hub> clients =
    std::make_shared<actors::client_socket_hub>();
  std::shared_ptr<transport::socket_endpoint> listener;
  std::shared_ptr<transport::socket_endpoint> dialler;

  explicit socket_pair(std::size_t chunk_bytes) {
    listener = made(transport::socket_endpoint::listen(
      options_of(*server, "tcp://127.0.0.1:*", 1, chunk_bytes)));
    if (listener)
      dialler = made(transport::socket_endpoint::dial(
        options_of(*clients, listener->address(), 2, chunk_bytes)));
    server->use(listener);
    clients->use(dialler);
  }

  ~socket_pair() {
    for (const auto& x : {listener, dialler})
      if (x)
        x->close();
  }

  socket_pair(const socket_pair&) = delete;
  socket_pair& operator=(const socket_pair&) = delete;

private:
  template <class Hub>
  static transport::socket_endpoint::options
  options_of(Hub& hub, std::string address, std::uint64_t instance,
             std::size_t chunk_bytes) {
    transport::socket_endpoint::options x;
    x.address = std::move(address);
    x.bytes_max = [](std::uint16_t) { return std::uint64_t{1} << 30; };
    x.frame_bytes_max = 512;
    x.chunk_bytes = chunk_bytes;
    x.instance = instance;
    x.arrived = [&hub](transport::frame_arrived y) {
      hub.arrived(std::move(y));
    };
    return x;
  }

  static std::shared_ptr<transport::socket_endpoint>
  made(result<std::shared_ptr<transport::socket_endpoint>> x) {
    EXPECT_TRUE(x) << (x ? "" : x.error().context);
    return x ? *x : nullptr;
  }
};

} // namespace troupe::test
