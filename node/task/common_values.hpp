#pragma once

// The values of a model that nobody trains and all look through.

#include <filesystem>
#include <map>
#include <string>

#include "core/result.hpp"
#include "core/values.hpp"
#include "models/layout.hpp"
#include "models/objective.hpp"
#include "models/safetensors.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// Where a run keeps its own, in its folder.
inline constexpr const char* common_file = "common.safetensors";

/// Where it keeps their digest: the file may be lost, or another.
inline constexpr const char* common_digest_file = "logs/common_digest";

/// The digest that a run's folder has of the values that the run began with;
/// empty: none. Returns `invalid_data` where what is there is no digest.
[[nodiscard]] result<std::string>
common_digest_in(const std::filesystem::path& folder);

/// The same of a run with a common model: also `invalid_data` where it is gone
/// though the run ended under a version that keeps it.
[[nodiscard]] result<std::string>
common_digest_of_run(const std::filesystem::path& folder);

/// What `common` names: a file, or that of a run's folder.
std::filesystem::path file_of_common(const std::string& common);

/// All of such a file. Returns `invalid_data` if it cannot be read or is not as
/// a run kept it, began with it or ended with it.
[[nodiscard]] result<models::tensor_file>
read_common(const std::filesystem::path& path);

/// Of its parameters and, if it has some, its buffers, by their families: as
/// `common` says or, if that is empty, from the seed. Returns `invalid_config`
/// if the file is of another model, `invalid_data` if the run began with others
/// (`common_digest`), or as `read_common`.
[[nodiscard]] result<std::map<std::string, shared_values>>
common_values(const experiment& x, models::objective& common);

/// Over all values of a file, in its order.
models::digest digest_of(const models::tensor_file& x);

} // namespace troupe::node
