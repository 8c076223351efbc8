#pragma once

// Folders whose names must be on the disk before what is in them counts.

#include <filesystem>

#include "core/result.hpp"

namespace troupe::actors {

struct folder_options {
  /// Waits until the folder's own name is on the disk.
  bool sync = false;
};

/// Makes it where there is none.
[[nodiscard]] result<void> make_folder(const std::filesystem::path& x,
                                       const folder_options& how);

/// Waits until the names in it are on the disk. Where there is none, nothing
/// was ever kept.
[[nodiscard]] result<void> sync_folder(const std::filesystem::path& x);

} // namespace troupe::actors
