#pragma once

// Two ends of a link, and a network between them that may be cut at any piece.

#include <deque>
#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "actors/transport/envelope.hpp"
#include "actors/transport/link_end.hpp"

namespace troupe::transport::ends {

constexpr std::uint64_t payload_max = 1 << 20;

inline link_end::options
options_of(std::uint64_t instance, std::size_t chunk_bytes,
           std::shared_ptr<held_bytes> room = nullptr) {
  link_end::options x;
  x.out.frame_bytes_max = 256;
  x.out.chunk_bytes = chunk_bytes;
  x.in.bytes_max = [](std::uint16_t) { return payload_max; };
  x.in.window_bytes = 600;
  x.in.room = room ? room : std::make_shared<held_bytes>(1 << 20);
  x.in.landing = std::make_shared<landing_pool>(1 << 20);
  x.instance = instance;
  return x;
}

inline messages::any_message small(std::uint64_t i) {
  return messages::visit_ended{{{1}, {i}}, policies::verdict::withdrawn};
}

inline messages::any_message large(std::uint64_t i, std::size_t values = 700) {
  std::vector<float> x(values);
  std::iota(x.begin(), x.end(), static_cast<float>(i));
  messages::offer_made out;
  out.pass.visit = {{1}, {i}};
  const auto delta = share(x);
  for (std::uint64_t block : {1, 2}) {
    messages::offer_block part;
    part.block = {block};
    part.delta = delta;
    out.blocks.push_back(std::move(part));
  }
  return out;
}

/// A piece as it is on the wire.
struct sent {
  piece_head head;
  buffer body;
};

struct end {
  explicit end(link_end::options x) : link(std::move(x)) {
    // nop
  }

  link_end link;
  std::deque<sent> out = {};  ///< Under way to the other one.
  std::deque<sent> late = {}; ///< Over a connection that is gone.
  std::vector<arrival> heard = {};
};

/// Moves one piece into the network. False: there is none.
inline bool send(end& from) {
  const auto x = from.link.next();
  if (!x)
    return false;
  from.out.push_back(
    {head_of(*x), buffer{x->body.bytes.begin(), x->body.bytes.end()}});
  return true;
}

inline bool deliver(std::deque<sent>& from, end& to) {
  if (from.empty())
    return false;
  const auto x = std::move(from.front());
  from.pop_front();
  const auto read = read_piece(x.head, x.body);
  EXPECT_TRUE(read);
  auto found = to.link.heard(*read);
  EXPECT_TRUE(found) << (found ? "" : found.error().context);
  if (found)
    std::ranges::move(*found, std::back_inserter(to.heard));
  return true;
}

inline bool deliver(end& from, end& to) {
  return deliver(from.out, to);
}

/// The connection is gone, with what was under way or before that arrives.
inline void cut(end& x, bool arrives) {
  if (arrives)
    std::ranges::move(x.out, std::back_inserter(x.late));
  x.out.clear();
}

inline void settle(end& a, end& b) {
  while (send(a) || send(b) || deliver(a, b) || deliver(b, a)) {}
}

inline buffer bytes_of(const arrival& x) {
  const auto message = x.what.open();
  EXPECT_TRUE(message);
  return message ? encode(**message) : buffer{};
}

} // namespace troupe::transport::ends
