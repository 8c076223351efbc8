#include "node/run/open_files.hpp"

#include <sys/resource.h>

namespace troupe::node {

std::uint64_t raise_open_files() noexcept {
  rlimit most{};
  if (getrlimit(RLIMIT_NOFILE, &most) != 0)
    return 0;
  most.rlim_cur = most.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &most);
  return most.rlim_max;
}

} // namespace troupe::node
