#include "actors/transport/piece.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "actors/transport/crc32c.hpp"

namespace troupe::transport {

namespace {

constexpr std::array<std::byte, 4> piece_magic{std::byte{'T'}, std::byte{'R'},
                                               std::byte{'P'}, std::byte{'L'}};
constexpr std::size_t piece_crc_offset = 36;

template <class T>
void put(piece_head& out, std::size_t at, T x) {
  std::memcpy(out.data() + at, &x, sizeof x);
}

template <class T>
T field_at(std::span<const std::byte> in, std::size_t at) {
  T x;
  std::memcpy(&x, in.data() + at, sizeof x);
  return x;
}

std::uint32_t piece_checksum(std::span<const std::byte> head,
                             std::span<const std::byte> body) {
  return crc32c(body, crc32c(head.first(piece_crc_offset)));
}

} // namespace

piece_head head_of(const piece& x) {
  piece_head out{};
  std::ranges::copy(piece_magic, out.begin());
  put(out, 4, x.kind);
  put(out, 8, x.connection);
  put(out, 12, static_cast<std::uint32_t>(x.channel.value));
  put(out, 16, x.transfer.value);
  put(out, 24, x.at);
  put(out, 32, static_cast<std::uint32_t>(x.body.bytes.size()));
  put(out, piece_crc_offset, piece_checksum(out, x.body.bytes));
  return out;
}

result<piece> read_piece(std::span<const std::byte> head,
                         std::span<const std::byte> body) {
  const auto wrong = [](const std::string& what) {
    return fail(errc::malformed_message, what);
  };
  if (head.size() != piece_head_size)
    return wrong("a piece's head has " + std::to_string(piece_head_size)
                 + " bytes, there are " + std::to_string(head.size()));
  if (!std::equal(piece_magic.begin(), piece_magic.end(), head.begin()))
    return wrong("the piece does not begin with TRPL");
  if (field_at<std::uint32_t>(head, 32) != body.size())
    return wrong("the piece claims "
                 + std::to_string(field_at<std::uint32_t>(head, 32))
                 + " bytes, there are " + std::to_string(body.size()));
  if (field_at<std::uint32_t>(head, piece_crc_offset)
      != piece_checksum(head, body))
    return wrong("the checksum does not agree");
  const auto kind = field_at<std::uint8_t>(head, 4);
  if (kind < static_cast<std::uint8_t>(piece_kind::opened)
      || kind > static_cast<std::uint8_t>(piece_kind::bundled))
    return wrong("no piece has kind " + std::to_string(kind));
  if (field_at<std::uint16_t>(head, 5) != 0 || head[7] != std::byte{})
    return wrong("the reserved bytes of a piece are not zero");
  return piece{.kind = static_cast<piece_kind>(kind),
               .connection = field_at<std::uint32_t>(head, 8),
               .channel = {field_at<std::uint32_t>(head, 12)},
               .transfer = {field_at<std::uint64_t>(head, 16)},
               .at = field_at<std::uint64_t>(head, 24),
               .body = {body, nullptr}};
}

std::vector<framed_bytes> frames_in(const piece& x) {
  std::vector<framed_bytes> out;
  for (auto rest = x.body.bytes; rest.size() >= bundle_head_size;) {
    std::array<std::uint32_t, 2> head{}; // Channel and bytes.
    std::memcpy(head.data(), rest.data(), sizeof head);
    rest = rest.subspan(bundle_head_size);
    if (head[1] > rest.size())
      break;
    out.push_back({{head[0]}, rest.first(head[1])});
    rest = rest.subspan(head[1]);
  }
  return out;
}

} // namespace troupe::transport
