#include "models/language/stored_type.hpp"

#include <array>
#include <bit>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

constexpr std::array<stored_type_facts, 11> all_facts{{
  {.name = "F32", .block_values = 1, .block_bytes = 4},
  {.name = "F16", .block_values = 1, .block_bytes = 2},
  {.name = "BF16", .block_values = 1, .block_bytes = 2},
  {.name = "Q8_0", .block_values = 32, .block_bytes = 2 + 32},
  {.name = "Q4_0", .block_values = 32, .block_bytes = 2 + 16},
  {.name = "Q4_1", .block_values = 32, .block_bytes = 2 + 2 + 16},
  {.name = "Q5_0", .block_values = 32, .block_bytes = 2 + 4 + 16},
  {.name = "Q5_1", .block_values = 32, .block_bytes = 2 + 2 + 4 + 16},
  {.name = "Q4_K", .block_values = 256, .block_bytes = 2 + 2 + 12 + 128},
  {.name = "Q5_K", .block_values = 256, .block_bytes = 2 + 2 + 12 + 32 + 128},
  {.name = "Q6_K", .block_values = 256, .block_bytes = 128 + 64 + 16 + 2},
}};

static_assert(all_facts.size()
              == static_cast<std::size_t>(stored_type::q6_k) + 1);

} // namespace

const stored_type_facts& facts_of(stored_type x) noexcept {
  return all_facts[static_cast<std::size_t>(x)];
}

std::size_t bytes_of(stored_type x, std::size_t values) noexcept {
  const auto& facts = facts_of(x);
  TROUPE_ASSERT(values % facts.block_values == 0);
  return values / facts.block_values * facts.block_bytes;
}

float from_f16(std::uint16_t x) noexcept {
  const auto sign = static_cast<std::uint32_t>(x & 0x8000) << 16;
  const std::uint32_t magnitude = x & 0x7fff;
  constexpr std::uint32_t least_normal = 0x0400;
  constexpr std::uint32_t infinite = 0x7c00;
  if (magnitude < least_normal) {
    // Without a leading bit of its own: so many times 2 to the -24, exactly.
    const auto value = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
  }
  // Exponents count from 127 and not from 15, but for what is not finite.
  const std::uint32_t moved = magnitude < infinite ? 127 - 15 : 255 - 31;
  return std::bit_cast<float>(((magnitude << 13) + (moved << 23)) | sign);
}

} // namespace troupe::models
