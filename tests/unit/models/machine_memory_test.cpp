#include "models/machine_memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "tests/support/scratch_folder.hpp"

namespace troupe::models::machine_memory_test {

namespace {

constexpr std::uint64_t mebi = 1 << 20;

/// A machine of 8 MiB, of which 6 are free, and 2 of swap.
class machine : public ::testing::Test {
protected:
  machine() {
    write("proc/meminfo",
          "MemTotal: 8192 kB\nMemFree: 4096 kB\nMemAvailable: 6144 kB\n"
          "SwapTotal: 2048 kB\n");
  }

  void write(const std::string& name, const std::string& text) {
    const auto path = std::filesystem::path{at_.path()} / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
  }

  machine_memory seen() const {
    return look_at_memory(at_.path());
  }

private:
  test::scratch_folder at_;
};

} // namespace

TEST_F(machine, alone_has_its_memory) {
  const auto x = seen();
  EXPECT_EQ(x.bytes_max, 8 * mebi);
  EXPECT_EQ(x.swap_bytes_max, 2 * mebi);
  EXPECT_EQ(x.group_bytes_max, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(x.bytes, 2 * mebi);
}

TEST_F(machine, of_a_container_has_what_its_group_may) {
  write("sys/fs/cgroup/memory.max", "4194304\n");
  write("sys/fs/cgroup/memory.current", "3145728\n");
  write("sys/fs/cgroup/memory.stat", "anon 2097152\ninactive_file 1048576\n");
  const auto x = seen();
  EXPECT_EQ(x.bytes_max, 4 * mebi);
  EXPECT_EQ(x.group_bytes_max, 4 * mebi);
  EXPECT_EQ(x.bytes, 2 * mebi) << "pages of files go when others are wanted";
}

TEST_F(machine, of_an_old_container_likewise) {
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4194304\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "3145728\n");
  EXPECT_EQ(seen().bytes_max, 4 * mebi);
  EXPECT_EQ(seen().bytes, 3 * mebi);
}

TEST_F(machine, with_a_group_that_may_have_all_is_alone) {
  write("sys/fs/cgroup/memory.max", "max\n");
  write("sys/fs/cgroup/memory.current", "1048576\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(seen().bytes_max, 8 * mebi);
  EXPECT_EQ(seen().bytes, 2 * mebi);
}

TEST_F(machine, that_says_nothing_has_nothing) {
  write("proc/meminfo", "");
  write("sys/fs/cgroup/memory.max", "4194304\n");
  EXPECT_EQ(seen().bytes_max, 0u);
}

} // namespace troupe::models::machine_memory_test
