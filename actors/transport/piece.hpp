#pragma once

// What crosses a connection between processes: docs/wire_format.md, chapter
// "Between processes". A piece is a head of 40 bytes and a body.

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "actors/messages/schema.hpp"
#include "actors/transport/rope.hpp"
#include "core/keys.hpp"
#include "core/result.hpp"

namespace troupe::transport {

/// Whose conversation a piece belongs to: a client of the process that dialled.
using channel_id = id<struct channel_tag>;

/// Counts what one end has sent, from 1.
using transfer_id = id<struct transfer_tag>;

enum class piece_kind : std::uint8_t {
  opened = 1, ///< The first of either side on each connection.
  framed,     ///< A small frame, whole.
  began,      ///< A large one: what it is and how many bytes it has.
  chunk,      ///< Some bytes of it.
  reached,    ///< What is here of it, and how far it may go on.
  refused,    ///< It will not be taken.
  announced,  ///< The key that a server will have; older readers drop it.
  bundled,    ///< Some small frames.
};

/// By which metrics know them; the first is of what is none.
inline constexpr std::array piece_kind_names{"none",    "opened",    "framed",
                                             "began",   "chunk",     "reached",
                                             "refused", "announced", "bundled"};

struct piece {
  piece_kind kind = piece_kind::opened;
  std::uint32_t connection = 0; ///< As whoever dialled numbers them.
  channel_id channel;           ///< Of `framed` and `began`.
  transfer_id transfer;         ///< Of the four about large ones.
  /// `chunk`: its place; `reached`: bytes here; `bundled`: how many.
  std::uint64_t at = 0;
  strand body;
};

inline constexpr std::size_t piece_head_size = 40;
using piece_head = std::array<std::byte, piece_head_size>;

/// A piece without a body yet.
inline piece make_piece(piece_kind kind, channel_id channel,
                        transfer_id transfer, std::uint64_t at = 0) {
  piece x;
  x.kind = kind;
  x.channel = channel;
  x.transfer = transfer;
  x.at = at;
  return x;
}

/// One of the bodies below.
template <class T>
strand body_of(const T& x) {
  auto bytes = std::make_shared<const buffer>(encode_payload(x));
  return {*bytes, bytes};
}

/// The bytes before the body of `x`.
piece_head head_of(const piece& x);

/// Checks magic, length, checksum and kind. The body is the caller's bytes.
result<piece> read_piece(std::span<const std::byte> head,
                         std::span<const std::byte> body);

inline constexpr std::uint16_t link_protocol = 3;
inline constexpr std::uint16_t protocol_with_bundles = 2;
/// A small piece crosses as one part of a message, not as two: with keys each
/// is encrypted by itself.
inline constexpr std::uint16_t protocol_in_one_part = 3;

/// Of `bundled`, whose body is for each a channel (`u32`), bytes (`u32`), and
/// the frame.
inline constexpr std::size_t frames_per_bundle_max = 64;
inline constexpr std::size_t bundle_head_size = 8;

using framed_bytes = std::pair<channel_id, std::span<const std::byte>>;

/// The frames of a bundle, up to where it is malformed.
std::vector<framed_bytes> frames_in(const piece& x);

/// Frames that it brings, as it says.
inline std::uint64_t frames_claimed(const piece& x) {
  return x.kind == piece_kind::bundled ? x.at : 1;
}

/// The body of `opened`.
struct opening {
  /// The highest that its sender speaks; who listens answers what both do.
  std::uint16_t protocol = link_protocol;
  std::uint64_t instance =
    0; ///< Of this end's memory; another after a restart.

  static constexpr auto fields(auto& x) {
    return std::tie(x.protocol, x.instance);
  }
};

/// The body of `began`: what an envelope says, and more bytes than it can.
struct beginning {
  std::uint16_t kind = 0;
  std::uint8_t version = 1;
  std::uint8_t readable_since = 1;
  std::uint32_t correlation = 0;
  std::uint64_t size = 0; ///< Of the payload.

  static constexpr auto fields(auto& x) {
    return std::tie(x.kind, x.version, x.readable_since, x.correlation, x.size);
  }
};

/// The body of `announced`.
struct announcement {
  public_key next{};
  std::uint64_t after_ms = 0; ///< From now on: clocks may be days apart.

  static constexpr auto fields(auto& x) {
    return std::tie(x.next, x.after_ms);
  }
};

/// The body of `reached`.
struct allowance {
  std::uint64_t until = 0; ///< Bytes before this may be sent.

  static constexpr auto fields(auto& x) {
    return std::tie(x.until);
  }
};

} // namespace troupe::transport
