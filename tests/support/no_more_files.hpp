#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace troupe::test {

/// As long as it lives this process opens no more files: it has too many.
class no_more_files {
public:
  /// @param but so many at a time
  explicit no_more_files(int but = 0) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::open("/", O_RDONLY | O_CLOEXEC);
    ::close(next);
    auto few = before_;
    few.rlim_cur = but > 0 ? static_cast<::rlim_t>(next + but) : 0;
    ::setrlimit(RLIMIT_NOFILE, &few);
  }

  no_more_files(const no_more_files&) = delete;
  no_more_files& operator=(const no_more_files&) = delete;

  ~no_more_files() {
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

private:
  ::rlimit before_{};
};

} // namespace troupe::test
