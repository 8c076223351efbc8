#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include <zmq.hpp>

namespace troupe::transport {

enum class connection_event : std::uint8_t { made, lost };

/// What becomes of the one connection of a socket that dials.
class connection_monitor {
public:
  connection_monitor(zmq::context_t& context, zmq::socket_t& of)
    : of_(of),
      events_(context, zmq::socket_type::pair) {
    constexpr const char* address = "inproc://connection";
    if (zmq_socket_monitor(of.handle(), address,
                           ZMQ_EVENT_HANDSHAKE_SUCCEEDED
                             | ZMQ_EVENT_DISCONNECTED)
        != 0)
      throw zmq::error_t{};
    events_.set(zmq::sockopt::linger, 0);
    events_.connect(address);
  }

  ~connection_monitor() {
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
    return event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED ? connection_event::made
                                                  : connection_event::lost;
  }

private:
  zmq::socket_t& of_;
  zmq::socket_t events_;
};

} // namespace troupe::transport
