#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "core/result.hpp"
#include "models/safetensors.hpp"

namespace troupe::node {

/// Writes a file, unless the same is there. Returns `storage_failure` where
/// another is.
[[nodiscard]] result<void> put_file(const std::filesystem::path& to,
                                    const models::tensor_file& what);

/// Makes the folder and puts files into it that `make` writes into the one that
/// it is given; what is there and the same stays. Returns `storage_failure`,
/// and has changed nothing, where one is there and is another, or one that has
/// none of these names. config.json comes last: who finds it finds all. What
/// was left there by a process that was killed over it goes.
[[nodiscard]] result<void> put_folder(
  const std::filesystem::path& to, const std::set<std::string>& names,
  const std::function<result<void>(const std::filesystem::path&)>& make);

} // namespace troupe::node
