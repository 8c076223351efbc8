#pragma once

// A run as a trace for a viewer such as Perfetto or chrome://tracing: a track
// for each client with its visits, one for each version line with its versions,
// and an arrow from a visit to every version that holds some of it.

#include <cstddef>
#include <filesystem>
#include <limits>

#include "core/result.hpp"

namespace troupe::node {

struct trace_options {
  double from = 0; ///< Seconds of the run's clock, as the next.
  double to = std::numeric_limits<double>::infinity();
  /// The last so many are shown: viewers hold a trace in memory.
  std::size_t visits_max = 20'000;
};

struct trace_written {
  std::filesystem::path path;
  std::size_t visits = 0;
  std::size_t left_out = 0;   ///< Visits of that time beyond `visits_max`.
  std::size_t unreadable = 0; ///< Lines of events.jsonl.
};

/// Reads a run's events and writes them to `to`, or to trace.json in the folder
/// if that is empty. Returns `invalid_data` if the run recorded no events, or
/// `storage_failure`.
[[nodiscard]] result<trace_written>
write_trace(const std::filesystem::path& folder,
            const std::filesystem::path& to = {}, const trace_options& = {});

} // namespace troupe::node
