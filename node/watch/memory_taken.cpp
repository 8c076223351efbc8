#include "node/watch/memory_taken.hpp"

#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

namespace troupe::node {

std::uint64_t resident_bytes() {
  std::uint64_t pages = 0;
  std::ifstream file{"/proc/self/statm"};
  file >> pages >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t peak_resident_bytes() {
  rusage x{};
  getrusage(RUSAGE_SELF, &x);
  return std::uint64_t(x.ru_maxrss) * 1024;
}

} // namespace troupe::node
