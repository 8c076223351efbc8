#include "node/watch/wait_notice.hpp"

#include <chrono>
#include <ostream>
#include <utility>

namespace troupe::node {

wait_notice::wait_notice(std::string what, teller tell, instant every)
  : what_(std::move(what)),
    thread_([this, tell = std::move(tell), every] { watch(tell, every); }) {
  // nop
}

wait_notice::~wait_notice() {
  {
    const std::lock_guard guard{mutex_};
    is_done_ = true;
  }
  done_.notify_all();
  thread_.join();
}

void wait_notice::now(std::string what) {
  const std::lock_guard guard{mutex_};
  what_ = std::move(what);
}

void wait_notice::watch(const teller& tell, instant every) {
  const auto began = steady_now();
  std::unique_lock guard{mutex_};
  while (!done_.wait_for(guard, every, [this] { return is_done_; }))
    tell(
      what_ + ": "
      + std::to_string(
        std::chrono::floor<std::chrono::seconds>(steady_now() - began).count())
      + " s");
}

wait_notice::teller lines_to(std::ostream& to) {
  return [&to](const std::string& line) { to << line << std::endl; };
}

} // namespace troupe::node
