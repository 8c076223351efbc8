#pragma once

// What the waits of runs and of processes have in common.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/metrics/why.hpp"

namespace troupe::actors {

std::string text_of(std::uint64_t n);

std::string seconds_text(double x);

/// "1 offer", "3 offers".
std::string counted(std::uint64_t n, const std::string& what);

/// Some of them, and how many more there are; empty of none.
std::string text_of(const std::vector<routing_alarm>& x);

/// A worker that is at something for longer than it should be.
std::optional<wait> hanging(const crew_status& crew, std::int64_t now_ms);

} // namespace troupe::actors
