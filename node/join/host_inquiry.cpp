#include "node/join/host_inquiry.hpp"

#include <system_error>
#include <thread>
#include <utility>

#include "core/clock.hpp"

namespace troupe::node {

host_inquiry::host_inquiry(const std::string& address, resolver ask) {
  try {
    std::thread{[to = known_, address, ask = std::move(ask)] {
      auto found = ask(address);
      const std::lock_guard guard{to->mutex};
      to->answer = std::move(found);
    }}.detach();
  } catch (const std::system_error&) { // There are too many threads.
    known_->answer.emplace();
  }
}

std::optional<std::string> host_inquiry::answer() const {
  const std::lock_guard guard{known_->mutex};
  return known_->answer;
}

std::optional<std::string>
host_inquiry::answer_within(std::chrono::milliseconds most,
                            const std::atomic<bool>* stop) const {
  constexpr std::chrono::milliseconds glance{20}; // At whether it is to stop.
  const auto until = steady_now() + most;
  while (!answer() && steady_now() < until && !(stop && *stop))
    std::this_thread::sleep_for(glance);
  return answer();
}

} // namespace troupe::node
