#pragma once

#include <array>
#include <cstdint>

namespace troupe {

/// Of Curve25519, as CURVE has them.
using public_key = std::array<std::uint8_t, 32>;

struct key_pair {
  public_key open{};
  std::array<std::uint8_t, 32> secret{};
};

/// What a server knows of a key.
enum class key_standing : std::uint8_t {
  unknown, ///< Never heard of, denied, or its file is damaged.
  expired,
  invited, ///< May enrol another one, and nothing else.
  allowed,
  unsure, ///< Its file cannot be read for the moment.
};

} // namespace troupe
