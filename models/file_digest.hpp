#pragma once

// Files known by their bytes, however large they are.

#include <filesystem>

#include "core/result.hpp"
#include "models/layout.hpp"

namespace troupe::models {

/// Over all bytes of a file, as `b2sum -l 256` says it. Fails with `code` and a
/// text that names the path.
[[nodiscard]] result<digest> digest_of_file(const std::filesystem::path& path,
                                            errc code);

} // namespace troupe::models
