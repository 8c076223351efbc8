#pragma once

// Ctrl-C or SIGTERM: once ends a run in order, twice ends the process.

#include <atomic>

namespace troupe::node {

/// While one lives, the first SIGINT or SIGTERM only makes `requested()` true;
/// the second ends the process with exit code 130 at once. One at a time.
class interruption {
public:
  /// `says` is for ever, and shown at the first.
  explicit interruption(
    const char* says =
      "\nending the run in order; Ctrl-C again stops at once\n");
  ~interruption();

  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  const std::atomic<bool>& requested() const noexcept;

  /// SIGTERM was the first: so whoever looks after services ends one.
  bool is_dismissal() const noexcept;
};

} // namespace troupe::node
