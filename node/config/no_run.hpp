#pragma once

#include <filesystem>
#include <string>

namespace troupe::node {

/// What a folder is that is taken for a run's: a sweep's, or one that has runs
/// in it, with where these are. Empty: nothing is known of it, or it is a
/// run's.
std::string other_than_run(const std::filesystem::path& folder);

/// Why there is no run in a folder, and what would do. @pre it has no
/// config.toml
std::string no_run_in(const std::filesystem::path& folder);

} // namespace troupe::node
