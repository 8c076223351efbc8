#pragma once

// A run's folder holds the common model that its clients look through: the file
// that `common` names may be gone, or another, when somebody comes back to it.

#include <filesystem>

#include "core/result.hpp"
#include "node/config/experiment.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// Writes it as common.safetensors, with the digest of its values; nothing
/// where the method has none or the folder has it.
[[nodiscard]] result<void> keep_common(const std::filesystem::path& folder,
                                       const workload& work);

/// The same experiment with `common` as the folder has it; as it is where the
/// folder has none, or none is named.
experiment with_kept_common(experiment x, const std::filesystem::path& folder);

} // namespace troupe::node
