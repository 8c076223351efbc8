#include "node/watch/outlay.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/clock.hpp"
#include "models/machine_memory.hpp"
#include "tests/support/no_more_files.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {

TEST(outlay, is_what_the_kernel_knows_of_this_process) {
  const test::scratch_folder scratch;
  outlay testee{scratch.path()};
  EXPECT_TRUE(testee.look());
  const auto& x = testee.last();
  EXPECT_GT(x.cpu_seconds, 0);
  EXPECT_GT(x.memory_bytes, 1u << 20);
  EXPECT_GE(x.files_open, 3u);
  EXPECT_GT(x.files_max, x.files_open);
  EXPECT_GT(x.machine_bytes, 1u << 20);
  EXPECT_GE(x.machine_bytes_max, x.machine_bytes);
  EXPECT_EQ(x.machine_bytes_max, models::look_at_memory().bytes_max);
  EXPECT_GT(x.disk_size_bytes, 0u);
  EXPECT_LE(x.disk_free_bytes, x.disk_size_bytes);
  // It began after the machine, and not in the future.
  const auto now = static_cast<double>(unix_milliseconds()) / 1000;
  EXPECT_GT(x.began_seconds, 0);
  EXPECT_LT(x.began_seconds, now + 2);
}

TEST(outlay, looks_now_and_then_at_what_takes_time) {
  outlay testee{std::filesystem::path{}};
  EXPECT_TRUE(testee.look());
  EXPECT_EQ(testee.last().disk_size_bytes, 0u) << "it has no folder";
  for (int i = 1; i < 20; ++i)
    EXPECT_FALSE(testee.look()) << i;
  EXPECT_TRUE(testee.look());
}

TEST(outlay, adds_up_files) {
  const test::scratch_folder scratch;
  std::filesystem::create_directory(scratch.path() + "/in");
  std::ofstream{scratch.path() + "/in/one"} << "12345";
  std::ofstream{scratch.path() + "/two"} << "123";
  EXPECT_EQ(bytes_below(scratch.path()), 8u);
  EXPECT_EQ(bytes_below(scratch.path() + "/none"), 0u);
}

// As lost+found, or what is removed meanwhile; and descriptors may be gone.
TEST(outlay, passes_over_folders_that_cannot_be_opened) {
  const test::scratch_folder scratch;
  const std::filesystem::path folder{scratch.path()};
  std::filesystem::create_directories(folder / "in" / "deep");
  std::filesystem::create_directory(folder / "closed");
  std::ofstream{folder / "in" / "deep" / "one"} << "12345";
  std::ofstream{folder / "two"} << "123";
  using std::filesystem::perms;
  std::filesystem::permissions(folder / "closed", perms::none);
  {
    const test::no_more_files short_of_files{1};
    EXPECT_EQ(bytes_below(folder), 8u);
  }
  {
    const test::no_more_files short_of_files;
    EXPECT_EQ(bytes_below(folder), 0u);
  }
  std::filesystem::permissions(folder / "closed", perms::owner_all);
}

} // namespace troupe::node
