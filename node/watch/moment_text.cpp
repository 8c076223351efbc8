#include "node/watch/moment_text.hpp"

#include <array>
#include <ctime>

namespace troupe::node {

std::string moment_text(std::int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  const auto length =
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return {text.data(), length};
}

} // namespace troupe::node
