#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/limits.hpp"

namespace troupe::node {

/// Where processes with clients dial, and whom it lets in.
struct listening_options {
  std::string address = {};            ///< As tcp://HOST:PORT; empty: nowhere.
  std::size_t chunk_bytes = 256 << 10; ///< Of a large message, in one piece.
  bool insecure = false;               ///< Whoever reaches it comes in.
  std::filesystem::path keys = {}; ///< Else: whose keys; empty: the run's own.
  bool serves_frozen = false;      ///< To whoever asks for frozen blocks.
  /// That one key may say, or without keys one connection.
  std::uint64_t frames_per_second = limits::frames_per_second_max;
};

} // namespace troupe::node
