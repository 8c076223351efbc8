#pragma once

// What a run is made of beside its configuration: files that somebody may have
// changed when a process comes back to it. Its folder knows them by digests.

#include <filesystem>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "models/layout.hpp"
#include "node/config/experiment.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// In a run's folder: of each a line with its name and its digest.
constexpr const char* inputs_file = "logs/inputs";

/// Writes them down where the folder has none yet, with the common model, and
/// refuses others than it has: `invalid_data`, naming the first file that is
/// another, or the folder's own where that is damaged.
[[nodiscard]] result<void> hold_inputs(const std::filesystem::path& folder,
                                       const experiment& x,
                                       const workload& work);

/// The same, and writes nothing: a folder without is taken as it is.
[[nodiscard]] result<void> check_inputs(const std::filesystem::path& folder,
                                        const experiment& x,
                                        const workload& work);

/// The same of the files of its models alone.
[[nodiscard]] result<void> check_models(const std::filesystem::path& folder,
                                        const experiment& x);

/// Whether what the folder says of them can be read.
[[nodiscard]] result<void>
check_inputs_file(const std::filesystem::path& folder);

} // namespace troupe::node
