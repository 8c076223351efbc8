#pragma once

// Pieces as messages of ZeroMQ: a part for the head, one for the body.

#include <optional>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "actors/transport/piece.hpp"

namespace troupe::transport {

/// One message, as it was received.
struct parts {
  std::string route; ///< Of a ROUTER: who sent it.
  std::string user;  ///< Likewise: its key, in digits; empty without keys.
  std::vector<zmq::message_t> rest;
};

enum class sending : std::uint8_t { done, blocked, nobody };

/// Sends a piece without waiting; its body is not copied, and lives until it is
/// sent. With a route: through a ROUTER.
sending send_piece(zmq::socket_t& to, const std::string& route, const piece& x);

/// Takes the next message, if there is one.
std::optional<parts> receive(zmq::socket_t& from, bool has_route);

/// The piece in a message, whose parts it looks at.
result<piece> piece_in(const parts& x);

} // namespace troupe::transport
