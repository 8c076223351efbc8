#pragma once

// A run's folder holds the common model that its clients look through: the file
// that `common` names may be gone, or another, when somebody comes back to it.

#include <filesystem>

#include "core/result.hpp"
#include "node/config/experiment.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// Writes it as common.safetensors, with the digest of its values, and that
/// digest once more beside it; nothing where the method has none or the folder
/// has both.
[[nodiscard]] result<void> keep_common(const std::filesystem::path& folder,
                                       const workload& work);

/// The same experiment with `common` as the folder has it, or as it is where
/// the folder has none, and the digest that its values must have. As
/// `common_digest_of_run` where the method has a common model.
[[nodiscard]] result<experiment>
with_kept_common(experiment x, const std::filesystem::path& folder);

/// As `prepare`, of the same experiment.
[[nodiscard]] result<workload>
prepare_with_kept(const experiment& x, const std::filesystem::path& folder,
                  const model_maker& make_model);

} // namespace troupe::node
