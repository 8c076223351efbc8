#pragma once

// How many files this process may have open: a connection is one.

#include <cstdint>

namespace troupe::node {

/// As many as this user may have. Returns how many that is.
std::uint64_t raise_open_files() noexcept;

} // namespace troupe::node
