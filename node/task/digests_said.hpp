#pragma once

// What somebody who comes back to a run knows things by: files that say
// digests, a line each, and the one comparison with what is there now.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "node/task/model_file.hpp"

namespace troupe::node {

/// In hex digits, by name.
using digests_said = std::map<std::string, std::string>;

/// Of lines with a name and a digest; nothing of a file that is not there.
/// `only` is the one name that a file has, which earlier versions left out.
/// Returns `invalid_data` where it says anything else, or nothing.
[[nodiscard]] result<digests_said>
read_digests(const std::filesystem::path& path, const std::string& only = {});

/// Writes such a file, whole.
[[nodiscard]] result<void> write_digests(const std::filesystem::path& path,
                                         const std::vector<known_file>& all);

struct digest_held {
  std::string what; ///< Said where it is another: "FILE is not what it was".
  std::string found;
  std::string said;
  std::string by; ///< Whoever says it.
  std::string whose = "its digest";
  std::string copy_of = "it"; ///< What would do.
};

/// Returns `invalid_data` where it is not the one that was said.
[[nodiscard]] result<void> check_digest(const digest_held& x);

} // namespace troupe::node
