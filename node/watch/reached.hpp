#pragma once

#include <cstdint>
#include <filesystem>

#include "core/clock.hpp"

namespace troupe::node {

/// The last instant that a run's folder speaks of, in events.jsonl or
/// metrics.jsonl; zero if none does.
instant reached_in(const std::filesystem::path& folder);

/// What metrics.jsonl says that a run has done.
struct work_done {
  /// Merged by versions; where a visit is in several lines, those of the line
  /// that has most.
  std::uint64_t visits = 0;
  std::uint64_t rounds = 0; ///< The last that was scored, of no version.
};

work_done work_in(const std::filesystem::path& folder);

} // namespace troupe::node
