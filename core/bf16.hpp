#pragma once

#include <bit>
#include <cstdint>

#include "core/values.hpp"

namespace troupe {

/// As what the values of versions and offers are sent.
enum class sent_as : std::uint8_t { f32, bf16 };

/// The nearest of sixteen bits, ties to even; what is not a number stays none.
std::uint16_t to_bf16(float x) noexcept;

inline float from_bf16(std::uint16_t x) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
}

/// Each value the nearest bf16: the same ones where they are that already.
/// Null stays null.
shared_values rounded_to_bf16(const shared_values& x);

} // namespace troupe
