#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "core/keys.hpp"
#include "core/result.hpp"

namespace troupe::node {

/// A new one, at random.
key_pair draw_pair();

/// The pair that a secret key is of.
key_pair pair_of(const std::array<std::uint8_t, 32>& secret);

/// By which a key is known where it is not to be read.
using key_hash = std::array<std::uint8_t, 16>;
key_hash hash_of(const public_key& x);

/// A pair in a file of its own.
[[nodiscard]] result<key_pair> read_pair(const std::filesystem::path& path);

/// Writes it where there is none yet.
[[nodiscard]] result<void> write_pair(const std::filesystem::path& path,
                                      const key_pair& x);

/// A server's next one, and from when on it serves.
struct coming_pair {
  key_pair pair;
  std::int64_t at_ms = 0; ///< Since 1970.
};

/// Nothing: there is no such file.
[[nodiscard]] result<std::optional<coming_pair>>
read_coming(const std::filesystem::path& path);

/// In the place of what is there.
[[nodiscard]] result<void> write_coming(const std::filesystem::path& path,
                                        const coming_pair& x);

/// The same of a pair that serves.
[[nodiscard]] result<void> replace_pair(const std::filesystem::path& path,
                                        const key_pair& x);

/// What is there, or a new one, which is there from now on.
[[nodiscard]] result<key_pair> pair_at(const std::filesystem::path& path);

} // namespace troupe::node
