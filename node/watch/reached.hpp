#pragma once

#include <filesystem>

#include "core/clock.hpp"

namespace troupe::node {

/// The last instant that a run's folder speaks of, in events.jsonl or
/// metrics.jsonl; zero if none does.
instant reached_in(const std::filesystem::path& folder);

} // namespace troupe::node
