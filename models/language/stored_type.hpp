#pragma once

// How the values of a tensor lie in people's files, and what they are. A
// quantised one is a row of blocks: a scale or two, and a few bits of each
// value.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace troupe::models {

/// How the values of a stored tensor lie. Those from q8_0 on lie in blocks of a
/// row, with a scale of each.
enum class stored_type : std::uint8_t {
  f32,
  f16,
  bf16,
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q4_k,
  q5_k,
  q6_k,
};

struct stored_type_facts {
  std::string_view name; ///< As in messages: "F32", "Q4_K".
  std::size_t block_values = 1;
  std::size_t block_bytes = 4;
};

const stored_type_facts& facts_of(stored_type x) noexcept;

/// @pre `values` are whole blocks
std::size_t bytes_of(stored_type x, std::size_t values) noexcept;

/// Each value as PyPI's `gguf` computes it, to the bit. @pre to.size() is of
/// whole blocks, from.size() == bytes_of(type, to.size())
void dequantise(stored_type type, std::span<const std::byte> from,
                std::span<float> to);

float from_f16(std::uint16_t x) noexcept;

} // namespace troupe::models
