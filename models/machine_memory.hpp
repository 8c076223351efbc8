#pragma once

// What memory there is here: the machine's, or what the control group of a
// container lets its processes have where that is less.

#include <cstdint>
#include <filesystem>

namespace troupe::models {

struct machine_memory {
  std::uint64_t bytes_max = 0;       ///< Without swap; 0: nobody says.
  std::uint64_t swap_bytes_max = 0;  ///< The machine's.
  std::uint64_t group_bytes_max = 0; ///< All bits set: any number.
  std::uint64_t bytes = 0;           ///< Taken, by whomever.
};

/// @param root under which the kernel's files stand
machine_memory look_at_memory(const std::filesystem::path& root = "/");

} // namespace troupe::models
