// What quantised blocks stand for. Each product and sum is rounded to f32 in
// the order of PyPI's `gguf`, whose arithmetic is numpy's: nothing is
// contracted.

#include "models/language/stored_type.hpp"

#include <bit>
#include <cstring>

#include "core/assert.hpp"
#include "core/bf16.hpp"

static_assert(std::endian::native == std::endian::little,
              "values are taken as they lie in the file");

namespace troupe::models {

namespace {

using packed = const std::uint8_t*;

std::uint16_t word_at(packed x) noexcept {
  std::uint16_t y;
  std::memcpy(&y, x, sizeof y);
  return y;
}

float half_at(packed x) noexcept {
  return from_f16(word_at(x));
}

float low_nibble(std::uint8_t x) noexcept {
  return static_cast<float>(x & 0x0f);
}

float high_nibble(std::uint8_t x) noexcept {
  return static_cast<float>(x >> 4);
}

// A block of 32: the first 16 values in the low bits of 16 bytes, the others in
// the high ones.

void q8_0(packed x, float* to) noexcept {
  const auto d = half_at(x);
  for (int i = 0; i < 32; ++i)
    to[i] = static_cast<float>(static_cast<std::int8_t>(x[2 + i])) * d;
}

void q4_0(packed x, float* to) noexcept {
  const auto d = half_at(x);
  for (int i = 0; i < 16; ++i) {
    to[i] = d * (low_nibble(x[2 + i]) - 8);
    to[16 + i] = d * (high_nibble(x[2 + i]) - 8);
  }
}

void q4_1(packed x, float* to) noexcept {
  const auto d = half_at(x), m = half_at(x + 2);
  for (int i = 0; i < 16; ++i) {
    to[i] = d * low_nibble(x[4 + i]) + m;
    to[16 + i] = d * high_nibble(x[4 + i]) + m;
  }
}

/// Value i of five bits: four in a nibble, the fifth in bit i of four bytes.
float five_bits(std::uint32_t fifths, packed nibbles, int i) noexcept {
  const auto x = nibbles[i % 16];
  const std::uint32_t low = i < 16 ? x & 0x0f : x >> 4;
  return static_cast<float>(low | (((fifths >> i) & 1) << 4));
}

void q5_0(packed x, float* to) noexcept {
  const auto d = half_at(x);
  std::uint32_t fifths;
  std::memcpy(&fifths, x + 2, sizeof fifths);
  for (int i = 0; i < 32; ++i)
    to[i] = d * (five_bits(fifths, x + 6, i) - 16);
}

void q5_1(packed x, float* to) noexcept {
  const auto d = half_at(x), m = half_at(x + 2);
  std::uint32_t fifths;
  std::memcpy(&fifths, x + 4, sizeof fifths);
  for (int i = 0; i < 32; ++i)
    to[i] = d * five_bits(fifths, x + 8, i) + m;
}

// A block of 256 has parts of 32 (of Q6_K: of 16), with a scale each that is a
// multiple of the block's.

struct part_scale {
  float scale;
  float least;
};

/// Of the eight parts of Q4_K and Q5_K six bits each, in twelve bytes: those of
/// the first four are the low bits of the first eight bytes, those of the
/// others are nibbles of the last four, and what is left of the first eight.
part_scale scale_of(packed x, int part) noexcept {
  const auto d = half_at(x), m = half_at(x + 2);
  const auto* packed = x + 4;
  const auto i = part % 4;
  const auto first = packed[i], second = packed[4 + i], both = packed[8 + i];
  if (part < 4)
    return {.scale = d * static_cast<float>(first & 0x3f),
            .least = m * static_cast<float>(second & 0x3f)};
  return {
    .scale = d * static_cast<float>((both & 0x0f) | ((first >> 2) & 0x30)),
    .least = m * static_cast<float>((both >> 4) | ((second >> 2) & 0x30))};
}

void q4_k(packed x, float* to) noexcept {
  for (int part = 0; part < 8; ++part) {
    const auto [scale, least] = scale_of(x, part);
    const auto* nibbles = x + 16 + 32 * (part / 2);
    for (int i = 0; i < 32; ++i) {
      const auto q =
        part % 2 == 0 ? low_nibble(nibbles[i]) : high_nibble(nibbles[i]);
      to[32 * part + i] = scale * q - least;
    }
  }
}

void q5_k(packed x, float* to) noexcept {
  const auto* fifths = x + 16;
  for (int part = 0; part < 8; ++part) {
    const auto [scale, least] = scale_of(x, part);
    const auto* nibbles = x + 48 + 32 * (part / 2);
    for (int i = 0; i < 32; ++i) {
      const auto low = part % 2 == 0 ? nibbles[i] & 0x0f : nibbles[i] >> 4;
      const auto q = low | (((fifths[i] >> part) & 1) << 4);
      to[32 * part + i] = scale * static_cast<float>(q) - least;
    }
  }
}

/// Four low bits and two high ones; scales are of 16 values. Within each half
/// rows of 32 values share 64 bytes of the first, and 32 of the second.
void q6_k(packed x, float* to) noexcept {
  const auto d = half_at(x + 208);
  for (int row = 0; row < 8; ++row) {
    const auto half = row / 4, k = row % 4;
    const auto* lows = x + 64 * half + 32 * (k % 2);
    const auto* highs = x + 128 + 32 * half;
    for (int i = 0; i < 32; ++i) {
      const auto low = k < 2 ? lows[i] & 0x0f : lows[i] >> 4;
      const auto q = (low | (((highs[i] >> (2 * k)) & 3) << 4)) - 32;
      const auto at = 32 * row + i;
      const auto scale =
        d * static_cast<float>(static_cast<std::int8_t>(x[192 + at / 16]));
      to[at] = scale * static_cast<float>(q);
    }
  }
}

void f16(packed x, float* to) noexcept {
  *to = half_at(x);
}

void bf16(packed x, float* to) noexcept {
  *to = from_bf16(word_at(x));
}

template <class Block>
void each_block(stored_type type, std::span<const std::byte> from,
                std::span<float> to, const Block& block) noexcept {
  const auto& facts = facts_of(type);
  const auto* x = reinterpret_cast<packed>(from.data());
  auto* y = to.data();
  for (std::size_t n = to.size() / facts.block_values; n > 0; --n) {
    block(x, y);
    x += facts.block_bytes;
    y += facts.block_values;
  }
}

} // namespace

void dequantise(stored_type type, std::span<const std::byte> from,
                std::span<float> to) {
  TROUPE_ASSERT(from.size() == bytes_of(type, to.size()));
  if (to.empty())
    return;
  switch (type) {
    case stored_type::f32:
      std::memcpy(to.data(), from.data(), from.size());
      return;
    case stored_type::f16:
      return each_block(type, from, to, f16);
    case stored_type::bf16:
      return each_block(type, from, to, bf16);
    case stored_type::q8_0:
      return each_block(type, from, to, q8_0);
    case stored_type::q4_0:
      return each_block(type, from, to, q4_0);
    case stored_type::q4_1:
      return each_block(type, from, to, q4_1);
    case stored_type::q5_0:
      return each_block(type, from, to, q5_0);
    case stored_type::q5_1:
      return each_block(type, from, to, q5_1);
    case stored_type::q4_k:
      return each_block(type, from, to, q4_k);
    case stored_type::q5_k:
      return each_block(type, from, to, q5_k);
    case stored_type::q6_k:
      return each_block(type, from, to, q6_k);
  }
}

} // namespace troupe::models
