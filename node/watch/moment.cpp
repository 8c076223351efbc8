#include "node/watch/moment.hpp"

#include <array>
#include <ctime>

#include <unistd.h>

#include "node/report/markup.hpp"

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

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string waiting_text(const waiting& x) {
  if (x.over)
    return x.what + "\n";
  return "waiting   " + x.what + "\nsince     " + x.since + " ("
         + duration(x.seconds) + ")\nends with " + x.ends + "\n";
}

} // namespace troupe::node
