#include "models/machine_memory.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <string>

namespace troupe::models {

namespace {

namespace fs = std::filesystem;

constexpr auto any_number = std::numeric_limits<std::uint64_t>::max();

/// What stands behind a word of a file; 0: it is not there.
std::uint64_t number_behind(const fs::path& path, const std::string& word) {
  std::ifstream file{path};
  std::string found;
  std::uint64_t number = 0;
  while (file >> found)
    if (found == word && file >> number)
      return number;
  return 0;
}

/// The number that a file begins with; 0: it has none.
std::uint64_t first_number_in(const fs::path& path) {
  std::ifstream file{path};
  std::uint64_t number = 0;
  return file >> number ? number : 0;
}

/// How a version of control groups calls it.
struct group_files {
  const char* bytes_max;
  const char* bytes;
  const char* counts;
  const char* unused; ///< Of the counts: pages that go when others are wanted.
};

constexpr std::array versions{
  group_files{"memory.max", "memory.current", "memory.stat", "inactive_file"},
  group_files{"memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes",
              "memory/memory.stat", "total_inactive_file"},
};

} // namespace

// "max" is no number.
machine_memory look_at_memory(const fs::path& root) {
  const auto machine = root / "proc/meminfo"; // In KiB.
  const auto total = number_behind(machine, "MemTotal:") << 10;
  const auto free = number_behind(machine, "MemAvailable:") << 10;
  machine_memory x{.bytes_max = total,
                   .swap_bytes_max = number_behind(machine, "SwapTotal:") << 10,
                   .group_bytes_max = any_number,
                   .bytes = total > free ? total - free : 0};
  const auto groups = root / "sys/fs/cgroup";
  for (const auto& files : versions) {
    const auto most = first_number_in(groups / files.bytes_max);
    if (most == 0 || most >= x.group_bytes_max)
      continue;
    x.group_bytes_max = most;
    if (most >= x.bytes_max)
      continue;
    x.bytes_max = most;
    const auto unused = number_behind(groups / files.counts, files.unused);
    x.bytes = first_number_in(groups / files.bytes);
    x.bytes -= std::min(x.bytes, unused);
  }
  return x;
}

} // namespace troupe::models
