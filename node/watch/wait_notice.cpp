#include "node/watch/wait_notice.hpp"

#include <chrono>
#include <utility>

namespace troupe::node {

wait_notice::wait_notice(std::string what, teller tell, instant every)
  : thread_([this, what = std::move(what), tell = std::move(tell), every] {
      watch(what, tell, every);
    }) {
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

void wait_notice::watch(const std::string& what, const teller& tell,
                        instant every) {
  const auto began = steady_now();
  std::unique_lock guard{mutex_};
  while (!done_.wait_for(guard, every, [this] { return is_done_; }))
    tell(
      what + ": "
      + std::to_string(
        std::chrono::floor<std::chrono::seconds>(steady_now() - began).count())
      + " s");
}

} // namespace troupe::node
