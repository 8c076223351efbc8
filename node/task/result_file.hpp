#pragma once

// What a run ended with, read only where it still is that: summary.json beside
// such a file knows it by its digest.

#include <filesystem>
#include <string>

#include "core/result.hpp"
#include "models/safetensors.hpp"

namespace troupe::node {

/// Returns `invalid_data` that says what is missing where no run has ended.
[[nodiscard]] result<void> check_ended(const std::filesystem::path& folder);

/// The digest that the run beside whose summary.json the file stands, or stood,
/// says of it; empty: none, or no run has ended there.
[[nodiscard]] result<std::string>
digest_said_of(const std::filesystem::path& file);

/// Whether a run has ended there and says digests of what it left, as those of
/// earlier versions do not.
bool says_digests(const std::filesystem::path& folder);

/// Returns `invalid_data` where the run beside whose summary.json the file
/// stands ended with another one, or where the file that it ended with is gone.
/// A file that no run left is as it is.
[[nodiscard]] result<void> check_result(const std::filesystem::path& file);

/// All of a file that `check_result` lets pass.
[[nodiscard]] result<models::tensor_file>
read_result(const std::filesystem::path& file);

/// What a run's folder ended with: model.safetensors, of which the names are
/// read. Returns `invalid_data` where no run has ended there, or with another
/// one.
[[nodiscard]] result<models::safetensors_file>
open_result(const std::filesystem::path& folder);

/// The same, all of it.
[[nodiscard]] result<models::tensor_file>
result_of_run(const std::filesystem::path& folder);

} // namespace troupe::node
