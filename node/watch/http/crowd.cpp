#include "node/watch/http/crowd.hpp"

#include <map>
#include <string_view>

#include "core/assert.hpp"

namespace troupe::http {

std::size_t who_makes_room(std::span<const std::string> peers) {
  TROUPE_ASSERT(!peers.empty());
  std::map<std::string_view, std::size_t> counts;
  std::size_t most = 0;
  for (const auto& x : peers)
    most = std::max(most, ++counts[x]);
  std::size_t i = 0;
  while (counts[peers[i]] < most)
    ++i;
  return i;
}

} // namespace troupe::http
