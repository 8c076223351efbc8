#pragma once

#include <cstdint>
#include <ctime>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/clock.hpp"

namespace troupe::transport {

/// Wakes a thread that polls, from any other one.
class wakeup {
public:
  wakeup() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    // nop
  }

  ~wakeup() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  wakeup(const wakeup&) = delete;
  wakeup& operator=(const wakeup&) = delete;

  bool works() const noexcept {
    return fd_ >= 0;
  }

  int fd() const noexcept {
    return fd_;
  }

  void ring() const noexcept {
    const std::uint64_t one = 1;
    // It cannot be full, and who is awake already need not be woken.
    (void)!::write(fd_, &one, sizeof one);
  }

  /// For less than a millisecond, where it has to be. True: somebody rang.
  bool wait(instant most) const noexcept {
    constexpr instant second = std::chrono::seconds{1};
    pollfd what{fd_, POLLIN, 0};
    const timespec until{most / second, (most % second).count()};
    return ::ppoll(&what, 1, &until, nullptr) > 0;
  }

  void quiet() const noexcept {
    std::uint64_t count = 0;
    (void)!::read(fd_, &count, sizeof count);
  }

private:
  int fd_;
};

} // namespace troupe::transport
