#include "actors/gateway/seal.hpp"

#include <cstring>

#include <sodium.h>

#include "actors/transport/codec.hpp"

namespace troupe::actors {

void seal::sign(messages::ticket& x) const {
  x.mac = mac_of(x);
}

bool seal::is_ours(const messages::ticket& x) const {
  const auto expected = mac_of(x);
  return sodium_memcmp(expected.data(), x.mac.data(), expected.size()) == 0;
}

std::array<std::uint8_t, 16> seal::mac_of(const messages::ticket& x) const {
  std::array<std::byte, 128> bytes;
  std::size_t size = 0;
  auto sink = [&](const void* from, std::size_t n) {
    std::memcpy(bytes.data() + size, from, n);
    size += n;
  };
  transport::writer write{sink};
  auto unsigned_ticket = x;
  unsigned_ticket.mac = {};
  write(unsigned_ticket);
  std::array<std::uint8_t, 16> result;
  crypto_generichash(result.data(), result.size(),
                     reinterpret_cast<const unsigned char*>(bytes.data()), size,
                     key_.data(), key_.size());
  return result;
}

} // namespace troupe::actors
