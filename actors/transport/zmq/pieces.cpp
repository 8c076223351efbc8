#include "actors/transport/zmq/pieces.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>

#include "actors/transport/zmq/door.hpp"

namespace troupe::transport {

namespace {

std::span<const std::byte> bytes_of(const zmq::message_t& x) {
  return {static_cast<const std::byte*>(x.data()), x.size()};
}

/// Up to here a copy costs less than to tell ZeroMQ of an owner.
constexpr std::size_t copied_bytes_max = 1024;

/// A part over bytes that something owns.
zmq::message_t part_over(const strand& x) {
  if (x.bytes.size() <= copied_bytes_max)
    return {x.bytes.data(), x.bytes.size()};
  auto* owner = new std::shared_ptr<const void>(x.owner);
  // ZeroMQ's own parts are mutable; a part that is sent is read alone.
  auto* data = const_cast<std::byte*>(x.bytes.data());
  return {data, x.bytes.size(),
          [](void*, void* hint) {
            delete static_cast<std::shared_ptr<const void>*>(hint);
          },
          owner};
}

} // namespace

sending send_piece(zmq::socket_t& socket, const addressee& to, const piece& x) {
  constexpr auto last = zmq::send_flags::dontwait;
  constexpr auto more = last | zmq::send_flags::sndmore;
  const auto head = head_of(x);
  const auto& body = x.body.bytes;
  try {
    if (!to.route.empty() && !socket.send(zmq::buffer(to.route), more))
      return sending::blocked;
    zmq::message_t rest;
    if (head.size() + body.size() <= to.joined_bytes_max) {
      rest.rebuild(head.size() + body.size());
      std::ranges::copy(head, rest.data<std::byte>());
      std::ranges::copy(body, rest.data<std::byte>() + head.size());
    } else {
      if (!socket.send(zmq::buffer(head.data(), head.size()), more))
        return sending::blocked;
      rest = part_over(x.body);
    }
    // Behind its first part a message is taken whole.
    return socket.send(rest, last) ? sending::done : sending::blocked;
  } catch (const zmq::error_t& e) {
    if (e.num() == EHOSTUNREACH)
      return sending::nobody;
    throw;
  }
}

std::optional<parts> receive(zmq::socket_t& from, bool has_route) {
  parts out;
  bool more = true;
  for (std::size_t i = 0; more; ++i) {
    zmq::message_t part;
    if (!from.recv(part, zmq::recv_flags::dontwait))
      return std::nullopt;
    more = part.more();
    if (i == 0 && has_route)
      out.route = part.to_string();
    else if (out.rest.size() < 3) // A third is one too many.
      out.rest.push_back(std::move(part));
  }
  if (has_route && !out.rest.empty())
    out.user = user_of(out.rest.front());
  return out;
}

result<piece> piece_in(const parts& x) {
  if (x.rest.size() == 2)
    return read_piece(bytes_of(x.rest[0]), bytes_of(x.rest[1]));
  if (x.rest.size() != 1 || x.rest[0].size() < piece_head_size)
    return fail(errc::malformed_message,
                "a piece has one part with its head, or two; there are "
                  + std::to_string(x.rest.size()));
  const auto both = bytes_of(x.rest[0]);
  return read_piece(both.first(piece_head_size), both.subspan(piece_head_size));
}

} // namespace troupe::transport
