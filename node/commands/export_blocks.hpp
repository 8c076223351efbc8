#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "node/commands/command.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// What `troupe export` can write of a run that has ended, by the names that
/// --block takes; none where it has not.
std::vector<std::string> blocks_in(const std::filesystem::path& folder);

/// "--block NAME would do, of …"
std::string some_block_of(const std::vector<std::string>& blocks);

/// Whether --merged writes something of a run with these blocks.
bool merges(const experiment& x, const std::vector<std::string>& blocks);

/// Whether that is a family's one block, or one of several: "model", "model.3".
bool is_block_of(std::string_view family, std::string_view name);

/// Why there is no such block among those of a run in a folder.
std::string no_block(const std::string& folder, const std::string& asked);

/// Why a path is a run, or a file of one, and no language model, and how one is
/// made of it; empty: it may be a model.
std::string run_for_a_model(const std::filesystem::path& path);

/// What is said where nobody said what to write. @pre it is a run's folder
failure nothing_to_write(const std::string& folder);

} // namespace troupe::node
