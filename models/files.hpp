#pragma once

// Whole files: read at once, or put in place at once. Nobody ever sees half of
// one.

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "core/result.hpp"

namespace troupe::models {

/// All bytes of a regular file. Fails with `code` and a text that names the
/// path.
[[nodiscard]] result<std::vector<std::byte>>
read_file(const std::filesystem::path& path, errc code);

struct replace_options {
  /// Waits until the file and its name are on the disk.
  bool sync = false;
};

/// Makes `parts`, one after the other, the content of `path`: into a file
/// beside it that is renamed when it is complete. Returns `storage_failure` if
/// it can't, and then `path` is as it was.
[[nodiscard]] result<void>
replace_file(const std::filesystem::path& path,
             std::span<const std::span<const std::byte>> parts,
             const replace_options& opts);

/// Whether a file of this name is what `replace_file` left behind when the
/// process died in the middle of it.
bool is_unfinished(const std::filesystem::path& path);

} // namespace troupe::models
