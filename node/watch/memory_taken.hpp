#pragma once

#include <cstdint>

namespace troupe::node {

/// Of this process, as it is resident now.
std::uint64_t resident_bytes();

/// The most that it ever was.
std::uint64_t peak_resident_bytes();

} // namespace troupe::node
