#pragma once

// Pieces as messages of ZeroMQ: a part for the head and one for the body, or
// one for both.

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

/// Where a piece goes, and how.
struct addressee {
  std::string route; ///< Through a ROUTER, if there is one.
  /// A piece of up to so many bytes is copied into one part; 0: none.
  std::size_t joined_bytes_max = 0;
};

/// Sends a piece without waiting; a body that is not joined with its head is
/// not copied, and lives until it is sent.
sending send_piece(zmq::socket_t& socket, const addressee& to, const piece& x);

/// Takes the next message, if there is one.
std::optional<parts> receive(zmq::socket_t& from, bool has_route);

/// The piece in a message, whose parts it looks at.
result<piece> piece_in(const parts& x);

} // namespace troupe::transport
