#include "node/join/host_inquiry.hpp"

#include <thread>
#include <utility>

namespace troupe::node {

host_inquiry::host_inquiry(const std::string& address, resolver ask) {
  std::thread{[to = known_, address, ask = std::move(ask)] {
    auto found = ask(address);
    const std::lock_guard guard{to->mutex};
    to->answer = std::move(found);
  }}.detach();
}

std::optional<std::string> host_inquiry::answer() const {
  const std::lock_guard guard{known_->mutex};
  return known_->answer;
}

} // namespace troupe::node
