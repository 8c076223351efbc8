#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include <zmq.hpp>

#include "actors/transport/handshakes.hpp"

namespace troupe::transport {

/// What becomes of connections: of the one of a socket that dials, or of those
/// that a server could not make.
class connection_monitor {
public:
  /// Of who dials.
  static constexpr int of_one =
    ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED
    | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
    | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_DISCONNECTED;

  /// Of a server with keys.
  static constexpr int of_strangers =
    ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;

  /// @param number of the socket: the name of one before it may still be taken
  connection_monitor(zmq::context_t& context, zmq::socket_t& of, int events,
                     int number = 0)
    : of_(of),
      events_(context, zmq::socket_type::pair) {
    const auto address = "inproc://connection" + std::to_string(number);
    if (zmq_socket_monitor(of.handle(), address.c_str(), events) != 0)
      throw zmq::error_t{};
    events_.set(zmq::sockopt::linger, 0);
    events_.connect(address);
  }

  // Whoever tells waits where there is no room, and holds meanwhile what the
  // end of a monitor waits for: there is to be room.
  ~connection_monitor() {
    while (next()) {}
    zmq_socket_monitor(of_.handle(), nullptr, 0);
  }

  connection_monitor(const connection_monitor&) = delete;
  connection_monitor& operator=(const connection_monitor&) = delete;

  void* handle() {
    return events_.handle();
  }

  std::optional<connection_event> next() {
    zmq::message_t what;
    if (!events_.recv(what, zmq::recv_flags::dontwait))
      return std::nullopt;
    zmq::message_t address;
    if (what.more())
      (void)events_.recv(address, zmq::recv_flags::none);
    std::uint16_t event = 0;
    std::memcpy(&event, what.data(), std::min(sizeof event, what.size()));
    switch (event) {
      case ZMQ_EVENT_CONNECTED:
        return connection_event::begun;
      case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        return connection_event::made;
      case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        return connection_event::refused;
      case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        return connection_event::unlike;
      case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        return connection_event::broken;
      default:
        return connection_event::lost;
    }
  }

private:
  zmq::socket_t& of_;
  zmq::socket_t events_;
};

} // namespace troupe::transport
