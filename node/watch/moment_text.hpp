#pragma once

#include <cstdint>
#include <string>

namespace troupe::node {

/// 2026-11-21 16:02:11 UTC.
std::string moment_text(std::int64_t unix_ms);

} // namespace troupe::node
