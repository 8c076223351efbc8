#pragma once

// Bodies on a client's disk, which end with their sums.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "actors/transport/codec.hpp"

namespace troupe::actors {

inline constexpr std::size_t seal_bytes = sizeof(std::uint32_t);

/// What a body of these parts ends with.
std::array<std::byte, seal_bytes>
seal_of(std::span<const std::span<const std::byte>> parts);

/// What was sealed; nothing if it is not what was.
std::optional<transport::buffer> unsealed(transport::buffer bytes);

} // namespace troupe::actors
