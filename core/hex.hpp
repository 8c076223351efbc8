#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

/// Two digits for each byte.
std::string to_hex(std::span<const std::uint8_t> x);

/// The bytes of so many digits and no others.
bool from_hex(std::string_view x, std::span<std::uint8_t> to);

template <std::size_t N>
std::optional<std::array<std::uint8_t, N>> from_hex(std::string_view x) {
  std::array<std::uint8_t, N> out{};
  return from_hex(x, out) ? std::optional{out} : std::nullopt;
}

} // namespace troupe
