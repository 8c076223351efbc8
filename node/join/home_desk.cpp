#include "node/join/home_desk.hpp"

#include <utility>

namespace troupe::node {

home_desk::home_desk(rule bytes_max) : bytes_max_(std::move(bytes_max)) {
  // nop
}

std::uint64_t home_desk::bytes_max(std::uint16_t kind) {
  const std::lock_guard guard{rule_mutex_};
  return bytes_max_(kind);
}

void home_desk::learn(rule bytes_max) {
  const std::lock_guard guard{rule_mutex_};
  bytes_max_ = std::move(bytes_max);
}

void home_desk::open(std::unique_ptr<home_scores> x) {
  const std::lock_guard guard{mutex_};
  scores_ = std::move(x);
}

void home_desk::with_scores(const std::function<void(home_scores&)>& f) {
  const std::lock_guard guard{mutex_};
  if (scores_)
    f(*scores_);
}

void home_desk::close() {
  std::unique_lock guard{mutex_};
  auto last = std::move(scores_);
  guard.unlock();
  last.reset();
}

} // namespace troupe::node
