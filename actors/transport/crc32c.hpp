#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe::transport {

/// CRC-32C (Castagnoli), continued from `crc`: by the processor's instruction
/// where it has one.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

/// The same, without that instruction.
std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes,
                               std::uint32_t crc = 0);

} // namespace troupe::transport
