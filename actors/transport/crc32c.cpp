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
/// Bytes of a lane: three are computed beside each other, since the instruction
/// answers after three cycles and takes one.
constexpr std::size_t lane_bytes = 4096;

using advance_table = std::array<std::array<std::uint32_t, 256>, 4>;

/// What a state is after a lane of zeros; it is linear in the state's bits.
const advance_table& after_lane() {
  static const advance_table all = [] {
    std::array<std::uint32_t, 32> of_bit{};
    for (std::size_t bit = 0; bit < of_bit.size(); ++bit) {
      auto state = std::uint32_t{1} << bit;
      for (std::size_t i = 0; i < lane_bytes; ++i)
        state = next_byte(state, std::byte{});
      of_bit[bit] = state;
    }
    advance_table out{};
    for (std::size_t k = 0; k < out.size(); ++k)
      for (std::size_t x = 0; x < out[k].size(); ++x)
        for (std::size_t bit = 0; bit < 8; ++bit)
          if ((x >> bit & 1) != 0)
            out[k][x] ^= of_bit[8 * k + bit];
    return out;
  }();
  return all;
}

std::uint32_t advanced(const advance_table& by, std::uint32_t state) {
  std::uint32_t out = 0;
  for (std::size_t k = 0; k < by.size(); ++k)
    out ^= by[k][(state >> (8 * k)) & 0xff];
  return out;
}

/// Takes three lanes. @pre so many bytes are there
__attribute__((target("sse4.2"))) std::uint32_t
by_lanes(bytes x, const advance_table& by, std::uint32_t state) {
  std::uint64_t a = state;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  for (std::size_t i = 0; i < lane_bytes; i += 8) {
    a = __builtin_ia32_crc32di(a, eight_at(x, i));
    b = __builtin_ia32_crc32di(b, eight_at(x, i + lane_bytes));
    c = __builtin_ia32_crc32di(c, eight_at(x, i + 2 * lane_bytes));
  }
  const auto two =
    advanced(by, static_cast<std::uint32_t>(a)) ^ static_cast<std::uint32_t>(b);
  return advanced(by, two) ^ static_cast<std::uint32_t>(c);
}

__attribute__((target("sse4.2"))) std::uint32_t
by_instruction(bytes x, std::uint32_t c) {
  if (x.size() >= 3 * lane_bytes) {
    const auto& by = after_lane();
    for (; x.size() >= 3 * lane_bytes; x = x.subspan(3 * lane_bytes))
      c = by_lanes(x, by, c);
  }
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
