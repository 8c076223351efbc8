#pragma once

#include <filesystem>
#include <string>

#include "core/result.hpp"

namespace troupe::node {

/// That there is something at a path that a configuration's key names. Returns
/// `invalid_data` with the key, and where the path goes through a folder
/// build/language, with what brings the files of the examples.
[[nodiscard]] result<void> check_is_brought(const std::string& key,
                                            const std::filesystem::path& path);

} // namespace troupe::node
