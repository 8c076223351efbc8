#include "actors/transport/piece.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "actors/transport/crc32c.hpp"

namespace troupe::transport {

namespace {

constexpr std::array<std::byte, 4> magic{std::byte{'T'}, std::byte{'R'},
                                         std::byte{'P'}, std::byte{'L'}};
constexpr std::size_t crc_offset = 36;

template <class T>
void put(piece_head& out, std::size_t at, T x) {
  std::memcpy(out.data() + at, &x, sizeof x);
}

template <class T>
T get(std::span<const std::byte> in, std::size_t at) {
  T x;
  std::memcpy(&x, in.data() + at, sizeof x);
  return x;
}

std::uint32_t checksum(std::span<const std::byte> head,
                       std::span<const std::byte> body) {
  return crc32c(body, crc32c(head.first(crc_offset)));
}

} // namespace

piece_head head_of(const piece& x) {
  piece_head out{};
  std::ranges::copy(magic, out.begin());
  put(out, 4, x.kind);
  put(out, 8, x.connection);
  put(out, 12, static_cast<std::uint32_t>(x.channel.value));
  put(out, 16, x.transfer.value);
  put(out, 24, x.at);
  put(out, 32, static_cast<std::uint32_t>(x.body.bytes.size()));
  put(out, crc_offset, checksum(out, x.body.bytes));
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
  if (!std::equal(magic.begin(), magic.end(), head.begin()))
    return wrong("the piece does not begin with TRPL");
  if (get<std::uint32_t>(head, 32) != body.size())
    return wrong("the piece claims "
                 + std::to_string(get<std::uint32_t>(head, 32))
                 + " bytes, there are " + std::to_string(body.size()));
  if (get<std::uint32_t>(head, crc_offset) != checksum(head, body))
    return wrong("the checksum does not agree");
  const auto kind = get<std::uint8_t>(head, 4);
  if (kind < static_cast<std::uint8_t>(piece_kind::opened)
      || kind > static_cast<std::uint8_t>(piece_kind::bundled))
    return wrong("no piece has kind " + std::to_string(kind));
  if (get<std::uint16_t>(head, 5) != 0 || head[7] != std::byte{})
    return wrong("the reserved bytes of a piece are not zero");
  return piece{.kind = static_cast<piece_kind>(kind),
               .connection = get<std::uint32_t>(head, 8),
               .channel = {get<std::uint32_t>(head, 12)},
               .transfer = {get<std::uint64_t>(head, 16)},
               .at = get<std::uint64_t>(head, 24),
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
