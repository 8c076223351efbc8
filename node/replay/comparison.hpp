#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

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

inline comparison compare(std::string what, const std::string& recorded,
                          std::string recomputed) {
  comparison x{.equal = recorded == recomputed, .total = 1, .first = {}};
  if (x.equal == 0)
    x.first = difference{std::move(what), recorded, std::move(recomputed)};
  return x;
}

} // namespace troupe::node
