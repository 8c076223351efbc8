#pragma once

// Zip archives, as scripted modules come in. Who reads them looks at no
// checksum.

#include <cstddef>
#include <span>
#include <string_view>

#include "core/result.hpp"

namespace troupe::models {

/// Returns `invalid_data`, with `origin` in the text, unless `bytes` are a zip
/// archive whose files are what their checksums say, each under one name.
/// Nothing is unpacked as a whole.
[[nodiscard]] result<void> check_archive(std::span<const std::byte> bytes,
                                         std::string_view origin);

} // namespace troupe::models
