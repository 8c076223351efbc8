#pragma once

#include <filesystem>

#include "actors/messages/terms.hpp"
#include "core/result.hpp"

namespace troupe::node {

/// By what a server knows a folder with clients again; drawn when the folder is
/// made, which is its owner's alone.
[[nodiscard]] result<messages::store_id>
store_id_of(const std::filesystem::path& folder);

} // namespace troupe::node
