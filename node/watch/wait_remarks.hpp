#pragma once

// What is said of a run's waits while it goes on, to who looks on. Pure.

#include <cstdint>
#include <string>

#include "actors/metrics/why.hpp"

namespace troupe::node {

class wait_remarks {
public:
  struct moment {
    std::int64_t now_ms = 0;
    std::int64_t progress_ms = 0; ///< Of the last visit or version.
    bool is_served = false;
  };

  /// What is to be said now; empty: nothing. A wait is told after ten seconds
  /// in which nothing came, again each minute, and when it is over; that a run
  /// of one process is at work is no wait, and said once in all.
  std::string look(const actors::wait& x, const moment& when);

private:
  std::string said_; ///< The code of the wait that was told last.
  std::int64_t said_ms_ = 0;
  bool work_said_ = false;
};

} // namespace troupe::node
