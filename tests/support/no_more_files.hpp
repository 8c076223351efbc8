#pragma once

#include <sys/resource.h>

namespace troupe::test {

/// As long as it lives this process opens no more files: it has too many.
class no_more_files {
public:
  no_more_files() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    auto none = before_;
    none.rlim_cur = 0;
    ::setrlimit(RLIMIT_NOFILE, &none);
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
