#pragma once

#include <filesystem>
#include <map>
#include <optional>

#include "core/ids.hpp"

namespace troupe::actors {

/// The newest version of each line that a folder's ledger holds; nothing where
/// there is no ledger that can be read.
std::optional<std::map<line_id, version>>
stored_heads(const std::filesystem::path& folder);

} // namespace troupe::actors
