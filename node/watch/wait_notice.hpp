#pragma once

// What people wait for before there is a run whose progress can be shown: data
// that are read, and known by their digests (a second or more for each GB).

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/clock.hpp"

namespace troupe::node {

/// Says now and then, on a thread of its own, what is being done and for how
/// long; of what is done before that nothing.
class wait_notice {
public:
  using teller = std::function<void(const std::string& line)>;

  wait_notice(std::string what, teller tell,
              instant every = std::chrono::seconds{2});

  /// Nothing more is said.
  ~wait_notice();

  wait_notice(const wait_notice&) = delete;
  wait_notice& operator=(const wait_notice&) = delete;

private:
  void watch(const std::string& what, const teller& tell, instant every);

  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_ = false;
  std::thread thread_; // The last: it uses the others.
};

} // namespace troupe::node
