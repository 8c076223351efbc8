#pragma once

// How a run was served: whoever goes on with it does so in the same way, or
// nobody that knows it would come back.

#include <filesystem>
#include <optional>
#include <string>

#include "core/result.hpp"
#include "node/run/listening.hpp"

namespace troupe::node {

struct served_way {
  std::string insecure = {}; ///< "here" or "anywhere"; empty: with keys.
  /// Of the keys; empty: those in the run's folder, wherever that lies.
  std::filesystem::path keys = {};
  bool serves_frozen = false;
};

/// Durable, in the folder of a run.
[[nodiscard]] result<void> write_way(const std::filesystem::path& folder,
                                     const listening_options& how);

/// What was asked for, and how the run goes on: what is not said is as it was.
/// Fails where clients would not know this server again: it had no keys or had
/// some, its pair is not there, or is another. What a build wrote that did not
/// remember the way is told from the run's `endpoint`.
[[nodiscard]] result<served_way> way_on(const std::filesystem::path& folder,
                                        served_way asked);

} // namespace troupe::node
