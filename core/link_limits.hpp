#pragma once

// Bounds on what one key's processes may have of a server, as in limits.hpp.

#include <cstddef>
#include <cstdint>

namespace troupe::limits {

/// Of one key; one more takes the place of the one that was silent for longest.
inline constexpr std::size_t links_per_key_max = 64;

/// What one key may say, or without keys one connection: more in a second is
/// not heard.
inline constexpr std::uint64_t frames_per_second_max = 20'000;

/// While others are heard, what one key says beyond this is read no faster.
inline constexpr std::uint64_t frames_beside_others = 5'000;

/// Of all that arrived and was not handled yet, what may be of one key.
inline constexpr std::uint64_t unhandled_bytes_of_key_max = std::uint64_t{128}
                                                            << 20;

} // namespace troupe::limits
