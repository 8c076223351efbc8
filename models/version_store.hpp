#pragma once

// Values in files that are named after their digest. Equal values are one file,
// files never change, and what is read is what was written, or an error.

#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <vector>

#include "core/result.hpp"
#include "models/layout.hpp"

namespace troupe::models {

struct version_store_options {
  /// Waits for the disk at every `put`: needed where a version counts as
  /// durable once it is stored.
  bool sync = true;
};

/// One folder of values. One process at a time uses a folder, from one thread.
/// All failures are `storage_failure` with the path of the file.
class version_store {
public:
  /// Makes the folder if it is not there.
  [[nodiscard]] static result<version_store>
  open(const std::filesystem::path& folder, const version_store_options& opts);

  /// Stores the bytes under their digest, and returns that. Stored again, they
  /// cost a check.
  [[nodiscard]] result<digest> put(std::span<const std::byte> bytes);
  [[nodiscard]] result<digest> put(std::span<const float> values);

  /// The bytes of that digest, checked.
  [[nodiscard]] result<std::vector<std::byte>> get(const digest& name) const;

  bool contains(const digest& name) const;

  /// Removes the bytes of that digest. None to be there is fine.
  [[nodiscard]] result<void> remove(const digest& name);

  /// Removes all values but these, and what a crash left unfinished. Files that
  /// are not the store's stay. Returns how many were removed.
  [[nodiscard]] result<std::size_t> retain(const std::set<digest>& names);

  std::filesystem::path path_of(const digest& name) const;

private:
  version_store(std::filesystem::path folder,
                const version_store_options& opts);

  std::filesystem::path folder_;
  version_store_options opts_;
};

} // namespace troupe::models
