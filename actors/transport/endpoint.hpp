#pragma once

#include <cstddef>

#include "actors/transport/frame.hpp"

namespace troupe::transport {

/// One side's way to send. What arrives comes as `transport::frame_arrived` to
/// the actor that the endpoint was made for. There are three kinds: in_process
/// (values pass by pointer), the simulator's (bytes, lossy) and sockets.
class endpoint {
public:
  virtual ~endpoint() = default;

  /// Sends, or loses: only an answer says that a message arrived. Messages to
  /// one peer that arrive do so in order unless the network reorders.
  /// @returns the bytes that the message takes on a wire; 0: one about the
  /// same waits there still, so that this one costs nothing more.
  virtual std::size_t send(peer_id to, messages::any_message x) = 0;

  /// Of a server: a client has a session at this peer. Until then hardly more
  /// than a hello may be taken of what comes from its process.
  virtual void has_session(peer_id) {
    // nop
  }
};

} // namespace troupe::transport
