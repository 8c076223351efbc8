#pragma once

#include <filesystem>
#include <map>

#include "core/ids.hpp"

namespace troupe::actors {

/// The newest version of each line that a folder's ledger holds; none where
/// there is no ledger that can be read.
std::map<line_id, version> stored_heads(const std::filesystem::path& folder);

} // namespace troupe::actors
