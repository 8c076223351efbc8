#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/values.hpp"

namespace troupe {

/// As what the values of versions and offers are sent.
enum class sent_as : std::uint8_t { f32, bf16 };

/// The nearest of sixteen bits, ties to even; what is not a number stays none.
std::uint16_t to_bf16(float x) noexcept;

inline float from_bf16(std::uint16_t x) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
}

/// Of each the nearest. @pre room for them
void to_bf16(std::span<const float> from, std::span<std::uint16_t> to) noexcept;

/// Whether each is one: its lower half is zero.
bool all_bf16(std::span<const float> xs) noexcept;

/// Each value the nearest bf16: the same ones where they are that already.
/// Null stays null.
shared_values rounded_to_bf16(const shared_values& x);

constexpr std::size_t bytes_each(sent_as x) noexcept {
  return x == sent_as::bf16 ? sizeof(std::uint16_t) : sizeof(float);
}

/// Where they are sent.
inline std::size_t sent_bytes(const shared_values& x) noexcept {
  const auto each = bytes_each(x.is_bf16() ? sent_as::bf16 : sent_as::f32);
  return x ? x->size() * each : 0;
}

} // namespace troupe
