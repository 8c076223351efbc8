#pragma once

#include <filesystem>

#include "node/commands/command.hpp"

namespace troupe::node {

/// Of a folder that is no model: what was looked for in it, what is there, and
/// what could be inspected instead. @pre it is a folder
failure unknown_folder(const std::filesystem::path& folder);

} // namespace troupe::node
