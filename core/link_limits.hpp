#pragma once

// Bounds on what links between processes hold, and on what one key's processes
// may have of a server: as limits.hpp, which nearly everything reads.

#include <cstddef>
#include <cstdint>

namespace troupe::limits {

/// Of one key; one more takes the place of the one that was silent for longest.
inline constexpr std::size_t links_per_key_max = 64;

/// What one key may say, or without keys one connection: more in a second is
/// not heard.
inline constexpr std::uint64_t frames_per_second_max = 20'000;

/// What one process may ask about places in a run, in a second.
inline constexpr std::uint64_t questions_per_second = 10;

/// While others are heard, what one key says beyond this is read no faster.
inline constexpr std::uint64_t frames_beside_others = 5'000;

/// Of all that arrived and was not handled yet, what may be of one key, and no
/// more than a quarter.
inline constexpr std::uint64_t unhandled_bytes_of_key_max = std::uint64_t{128}
                                                            << 20;

/// Of all that arrived and was not handled yet, in frames, however small: at
/// either bound no room is given for what is large.
inline constexpr std::uint64_t unhandled_frames_max = 65'536;

/// Names of which is known how much they have said lately: keys, or connections
/// without keys. One more takes the place of one that is silent.
inline constexpr std::size_t meters_max = 16'384;

/// Keys that came lately, with what they may do; all are looked up again when
/// there are more.
inline constexpr std::size_t keys_remembered = 16'384;

/// Messages with values, by which is known what is said again; a newer one may
/// take the place of any other.
inline constexpr std::size_t messages_remembered = 8192;

} // namespace troupe::limits
