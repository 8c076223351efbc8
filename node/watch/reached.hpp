#pragma once

#include <cstdint>
#include <filesystem>

#include "core/clock.hpp"

namespace troupe::node {

/// The last instant that a run's folder speaks of, in events.jsonl or
/// metrics.jsonl; zero if none does.
instant reached_in(const std::filesystem::path& folder);

/// How many visits the versions have merged of which metrics.jsonl speaks;
/// where a visit is in several lines, those of the line that has most.
std::uint64_t merged_in(const std::filesystem::path& folder);

} // namespace troupe::node
