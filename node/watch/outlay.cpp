#include "node/watch/outlay.hpp"

#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "core/clock.hpp"
#include "models/machine_memory.hpp"
#include "node/watch/memory_taken.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t looks_per_close_look = 20;

/// The number behind a word of a file of the kernel's; 0: it is not there.
std::uint64_t number_in(const char* path, const std::string& word) {
  std::ifstream file{path};
  std::string found;
  std::uint64_t number = 0;
  while (file >> found) {
    if (found == word && file >> number)
      return number;
    file.clear();
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

/// When this process began, in seconds since 1970.
double began() {
  std::ifstream file{"/proc/self/stat"};
  std::string text;
  std::getline(file, text);
  // The second word is the program's name, which may hold anything; behind it
  // are nineteen more before the one that counts ticks since the machine began.
  const auto name = text.rfind(')');
  if (name == std::string::npos)
    return 0;
  auto at = name;
  for (int i = 0; i < 20; ++i) {
    at = text.find(' ', at + 1);
    if (at == std::string::npos)
      return 0;
  }
  const auto ticks = std::strtoull(text.c_str() + at, nullptr, 10);
  return static_cast<double>(number_in("/proc/stat", "btime"))
         + static_cast<double>(ticks)
             / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::uint64_t files_open() {
  std::uint64_t count = 0;
  std::error_code failed;
  for (fs::directory_iterator at{"/proc/self/fd", failed}, end; at != end;
       at.increment(failed))
    ++count;
  return count > 0 ? count - 1 : 0; // One of them was to look.
}

std::uint64_t files_max() {
  rlimit x{};
  return getrlimit(RLIMIT_NOFILE, &x) == 0 ? x.rlim_cur : 0;
}

} // namespace

// Folders come and go meanwhile, and some are others': each is opened by
// itself, and of one that cannot be there is nothing to add.
std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::vector<fs::path> left{folder};
  while (!left.empty()) {
    const auto next = std::move(left.back());
    left.pop_back();
    std::error_code closed;
    for (fs::directory_iterator at{next, closed}, end; !closed && at != end;
         at.increment(closed)) {
      std::error_code gone;
      if (at->symlink_status(gone).type() == fs::file_type::directory)
        left.push_back(at->path());
      const auto size = at->file_size(gone);
      bytes += gone ? 0 : size;
    }
  }
  return bytes;
}

outlay::outlay(fs::path folder) : folder_(std::move(folder)) {
  last_.began_seconds = began();
}

bool outlay::look() {
  last_.cpu_seconds = seconds(process_cpu_time());
  last_.memory_bytes = resident_bytes();
  const bool closely = looks_++ % looks_per_close_look == 0;
  if (closely)
    look_closely();
  return closely;
}

void outlay::look_closely() {
  last_.files_open = files_open();
  last_.files_max = files_max();
  const auto memory = models::look_at_memory();
  last_.machine_bytes_max = memory.bytes_max;
  last_.machine_bytes = memory.bytes;
  std::error_code failed;
  const auto disk =
    folder_.empty() ? fs::space_info{} : fs::space(folder_, failed);
  last_.disk_free_bytes = failed ? 0 : disk.available;
  last_.disk_size_bytes = failed ? 0 : disk.capacity;
}

} // namespace troupe::node
