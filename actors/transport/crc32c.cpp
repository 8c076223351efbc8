#include "actors/transport/crc32c.hpp"

#include <array>
#include <cstring>

namespace troupe::transport {

namespace {

using bytes = std::span<const std::byte>;

/// Table k is for a byte that has k more behind it: eight at a time.
constexpr auto tables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> all{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    auto x = i;
    for (int bit = 0; bit < 8; ++bit)
      x = (x >> 1) ^ ((x & 1) != 0 ? 0x82f63b78u : 0u);
    all[0][i] = x;
  }
  for (std::size_t k = 1; k < all.size(); ++k)
    for (std::size_t i = 0; i < 256; ++i)
      all[k][i] = (all[k - 1][i] >> 8) ^ all[0][all[k - 1][i] & 0xff];
  return all;
}();

std::uint64_t eight_at(bytes x, std::size_t at) {
  std::uint64_t word;
  std::memcpy(&word, x.data() + at, sizeof word);
  return word;
}

std::uint32_t next_byte(std::uint32_t state, std::byte x) {
  return (state >> 8)
         ^ tables[0][(state ^ static_cast<std::uint32_t>(x)) & 0xff];
}

std::uint32_t next_eight(std::uint32_t state, std::uint64_t x) {
  x ^= state;
  std::uint32_t sum = 0;
  for (std::size_t k = 0; k < 8; ++k)
    sum ^= tables[7 - k][(x >> (8 * k)) & 0xff];
  return sum;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) std::uint32_t
by_instruction(bytes x, std::uint32_t c) {
  std::uint64_t state = c;
  std::size_t i = 0;
  for (; i + 8 <= x.size(); i += 8)
    state = __builtin_ia32_crc32di(state, eight_at(x, i));
  auto rest = static_cast<std::uint32_t>(state);
  for (; i < x.size(); ++i)
    rest = __builtin_ia32_crc32qi(rest, static_cast<unsigned char>(x[i]));
  return rest;
}
#endif

std::uint32_t by_tables(bytes x, std::uint32_t state) {
  std::size_t i = 0;
  for (; i + 8 <= x.size(); i += 8)
    state = next_eight(state, eight_at(x, i));
  for (; i < x.size(); ++i)
    state = next_byte(state, x[i]);
  return state;
}

} // namespace

std::uint32_t crc32c_by_tables(bytes x, std::uint32_t crc) {
  return ~by_tables(x, ~crc);
}

std::uint32_t crc32c(bytes x, std::uint32_t crc) {
#ifdef __x86_64__
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction)
    return ~by_instruction(x, ~crc);
#endif
  return crc32c_by_tables(x, crc);
}

} // namespace troupe::transport
