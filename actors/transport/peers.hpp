#pragma once

#include <cstdint>

#include "actors/transport/piece.hpp"
#include "core/ids.hpp"

// How a peer of a server's is named: by its link, and the channel on that. On
// who dialled there is one link, and a peer is a channel.

namespace troupe::transport {

inline constexpr unsigned channel_bits = 32;

constexpr peer_id peer_of(std::uint64_t link, channel_id on) {
  return {link << channel_bits | on.value};
}

/// Of a link, the process itself: channel 0 is no client's.
constexpr peer_id process_of(std::uint64_t link) {
  return peer_of(link, {});
}

constexpr std::uint64_t link_of(peer_id x) {
  return x.value >> channel_bits;
}

constexpr channel_id channel_of(peer_id x) {
  return {x.value & ((std::uint64_t{1} << channel_bits) - 1)};
}

} // namespace troupe::transport
