#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "core/duration_counts.hpp"

namespace troupe::http {

/// How many readers there are, and how long they took to be answered. Of many
/// threads.
class tally {
public:
  struct counts {
    std::map<std::string, duration_counts> requests = {}; ///< By page.
    std::size_t connections = 0;
  };

  void answered(const std::string& page, double seconds) {
    const std::lock_guard guard{mutex_};
    now_.requests[page].add(seconds);
  }

  void connected(std::size_t readers) {
    const std::lock_guard guard{mutex_};
    now_.connections = readers;
  }

  counts now() const {
    const std::lock_guard guard{mutex_};
    return now_;
  }

private:
  mutable std::mutex mutex_;
  counts now_;
};

} // namespace troupe::http
