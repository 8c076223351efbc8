#include "actors/transport/envelope.hpp"

#include <array>
#include <cstring>

#include "core/limits.hpp"

namespace troupe::transport {

namespace {

constexpr std::array<std::byte, 4> magic{std::byte{'T'}, std::byte{'R'},
                                         std::byte{'P'}, std::byte{'1'}};
constexpr std::size_t flags_offset = 8; // And the reserved bytes behind them.
constexpr std::size_t crc_offset = 20;

template <class T>
void put(buffer& out, std::size_t at, T x) {
  std::memcpy(out.data() + at, &x, sizeof x);
}

template <class T>
T get(std::span<const std::byte> in, std::size_t at) {
  T x;
  std::memcpy(&x, in.data() + at, sizeof x);
  return x;
}

std::uint32_t frame_checksum(std::span<const std::byte> frame) {
  return crc32c(frame.subspan(envelope_size), crc32c(frame.first(crc_offset)));
}

template <std::size_t I = 0>
result<messages::any_message>
decode_as(std::uint16_t kind, messages::written_as writer,
          std::span<const std::byte> payload,
          const std::shared_ptr<const void>& owner) {
  using all = messages::any_message;
  if constexpr (I == std::variant_size_v<all>) {
    return fail(errc::malformed_message,
                "no message has kind " + std::to_string(kind));
  } else {
    using type = std::variant_alternative_t<I, all>;
    if (kind != type::wire.kind)
      return decode_as<I + 1>(kind, writer, payload, owner);
    return decode_payload<type>(payload, writer, owner).map([](type x) {
      return all{std::move(x)};
    });
  }
}

/// But for the length and the checksum, which follow from the payload.
void begin_envelope(buffer& out, const messages::any_message& any) {
  out.resize(envelope_size);
  std::copy(magic.begin(), magic.end(), out.begin());
  std::visit(
    [&out](const auto& x) {
      put(out, 4, x.wire.kind);
      put(out, 6, x.wire.current());
      put(out, 7, x.wire.readable_since);
    },
    any);
}

} // namespace

buffer envelope_before(const messages::any_message& any,
                       std::span<const std::span<const std::byte>> payload) {
  buffer out;
  begin_envelope(out, any);
  std::size_t size = 0;
  for (const auto& part : payload)
    size += part.size();
  put(out, 12, static_cast<std::uint32_t>(size));
  auto crc = crc32c(std::span{out}.first(crc_offset));
  for (const auto& part : payload)
    crc = crc32c(part, crc);
  put(out, crc_offset, crc);
  return out;
}

buffer encode(const messages::any_message& any, std::uint32_t correlation) {
  buffer out;
  out.reserve(encoded_size(any));
  begin_envelope(out, any);
  std::visit([&out](const auto& x) { encode_into(out, x); }, any);
  put(out, 12, static_cast<std::uint32_t>(out.size() - envelope_size));
  put(out, 16, correlation);
  put(out, crc_offset, frame_checksum(out));
  return out;
}

std::size_t encoded_size(const messages::any_message& any) {
  return envelope_size
         + std::visit([](const auto& x) { return payload_size(x); }, any);
}

result<envelope> open_envelope(std::span<const std::byte> frame,
                               std::size_t payload_bytes_max) {
  if (frame.size() < envelope_size)
    return fail(errc::malformed_message, "a frame of "
                                           + std::to_string(frame.size())
                                           + " bytes has no envelope");
  if (!std::equal(magic.begin(), magic.end(), frame.begin()))
    return fail(errc::malformed_message, "the frame does not begin with TRP1");
  if (get<std::uint32_t>(frame, flags_offset) != 0)
    return fail(errc::malformed_message,
                "the frame has flags that this version does not know");
  envelope x{.kind = get<std::uint16_t>(frame, 4),
             .writer = {.version = get<std::uint8_t>(frame, 6),
                        .readable_since = get<std::uint8_t>(frame, 7)},
             .payload_size = get<std::uint32_t>(frame, 12),
             .correlation = get<std::uint32_t>(frame, 16)};
  if (x.payload_size > payload_bytes_max)
    return fail(errc::malformed_message, "a payload of "
                                           + std::to_string(x.payload_size)
                                           + " bytes is above the limit of "
                                           + std::to_string(payload_bytes_max));
  if (x.payload_size != frame.size() - envelope_size)
    return fail(errc::malformed_message,
                "the envelope claims " + std::to_string(x.payload_size)
                  + " bytes, there are "
                  + std::to_string(frame.size() - envelope_size));
  if (get<std::uint32_t>(frame, crc_offset) != frame_checksum(frame))
    return fail(errc::malformed_message, "the checksum does not agree");
  return x;
}

result<messages::any_message> decode(std::span<const std::byte> frame,
                                     const std::shared_ptr<const void>& owner) {
  const auto head = open_envelope(frame, limits::payload_bytes_max);
  if (!head)
    return tl::make_unexpected(head.error());
  return decode_kind(head->kind, head->writer, frame.subspan(envelope_size),
                     owner);
}

result<messages::any_message>
decode_kind(std::uint16_t kind, messages::written_as writer,
            std::span<const std::byte> payload,
            const std::shared_ptr<const void>& owner) {
  return decode_as(kind, writer, payload, owner);
}

} // namespace troupe::transport
