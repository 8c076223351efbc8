#pragma once

#include <csignal>

#include <sys/resource.h>

namespace troupe::test {

/// No file may grow beyond this, as on a disk that is full.
class small_disk {
public:
  explicit small_disk(rlim_t bytes) {
    // Else the process would be killed, where a full disk only fails a call.
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    auto now = before_;
    now.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &now);
  }

  ~small_disk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

} // namespace troupe::test
