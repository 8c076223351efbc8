#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "actors/messages/wire.hpp"
#include "actors/transport/codec.hpp"
#include "actors/transport/crc32c.hpp"
#include "core/result.hpp"

namespace troupe::transport {

/// What stands before a payload, little-endian:
///
///   offset 0  magic "TRP1"        8  flags (2), zero
///          4  kind (2)           10  reserved (2), zero
///          6  written version    12  payload length (4)
///          7  readable since     16  correlation (4)
///                                20  crc32c (4) of bytes 0 to 19 and the
///                                payload
inline constexpr std::size_t envelope_size = 24;

struct envelope {
  std::uint16_t kind = 0;
  messages::written_as writer;
  std::uint32_t payload_size = 0;
  std::uint32_t correlation = 0;
};

/// Envelope and payload of any message.
buffer encode(const messages::any_message& x, std::uint32_t correlation = 0);

/// The envelope of a message whose payload is in these parts.
buffer envelope_before(const messages::any_message& x,
                       std::span<const std::span<const std::byte>> payload);

/// The size of `encode(x)`, without encoding.
std::size_t encoded_size(const messages::any_message& x);

/// Reads an envelope and checks, in this order: magic, length against `max` and
/// the bytes that are there, checksum. Nothing is allocated.
result<envelope> open_envelope(std::span<const std::byte> frame,
                               std::size_t payload_bytes_max);

/// The message of a payload that came without an envelope, or of an envelope.
/// Its values are handles on the payload, if that has an owner.
result<messages::any_message>
decode_kind(std::uint16_t kind, messages::written_as writer,
            std::span<const std::byte> payload,
            const std::shared_ptr<const void>& owner = {});

/// The message in a frame. Every malformation is an error; nothing throws. Its
/// values are handles on the frame, if that has an owner.
result<messages::any_message>
decode(std::span<const std::byte> frame,
       const std::shared_ptr<const void>& owner = {});

} // namespace troupe::transport
