#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace troupe::node {

/// Something is not what it was.
struct difference {
  std::string what;
  std::string recorded;
  std::string recomputed; ///< Or why there is nothing.
};

/// Recorded digests, beside those that were computed.
struct comparison {
  std::uint64_t equal = 0;
  std::uint64_t total = 0;
  std::optional<difference> first;
};

} // namespace troupe::node
