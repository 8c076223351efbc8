#include "core/clock.hpp"

#include <cstdlib>
#include <ctime>

namespace troupe {

namespace {

instant cpu_time(clockid_t of) {
  timespec x{};
  clock_gettime(of, &x);
  return std::chrono::seconds{x.tv_sec} + std::chrono::nanoseconds{x.tv_nsec};
}

} // namespace

instant steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

std::int64_t unix_milliseconds() {
  // Tests have machines whose clocks are apart.
  static const auto offset = [] {
    const auto* text = std::getenv("TROUPE_CLOCK_OFFSET");
    return std::chrono::seconds{text ? std::atoll(text) : 0};
  }();
  const auto now = std::chrono::system_clock::now().time_since_epoch() + offset;
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

instant process_cpu_time() {
  return cpu_time(CLOCK_PROCESS_CPUTIME_ID);
}

instant thread_cpu_time() {
  return cpu_time(CLOCK_THREAD_CPUTIME_ID);
}

} // namespace troupe
