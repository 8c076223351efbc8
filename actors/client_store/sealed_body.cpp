#include "actors/client_store/sealed_body.hpp"

#include <algorithm>

#include "actors/transport/crc32c.hpp"

namespace troupe::actors {

std::array<std::byte, seal_bytes>
seal_of(std::span<const std::span<const std::byte>> parts) {
  std::uint32_t sum = 0;
  for (const auto part : parts)
    sum = transport::crc32c(part, sum);
  std::array<std::byte, seal_bytes> out{};
  for (auto& x : out) {
    x = static_cast<std::byte>(sum & 0xff);
    sum >>= 8;
  }
  return out;
}

std::optional<transport::buffer> unsealed(transport::buffer bytes) {
  if (bytes.size() < seal_bytes)
    return std::nullopt;
  const std::span<const std::byte> all{bytes};
  const std::array body{all.first(bytes.size() - seal_bytes)};
  if (!std::ranges::equal(seal_of(body), all.last(seal_bytes)))
    return std::nullopt;
  bytes.resize(body.front().size());
  return bytes;
}

} // namespace troupe::actors
