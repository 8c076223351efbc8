#include "actors/client_store/disk_vault.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "tests/support/scratch_folder.hpp"

namespace troupe::actors {
namespace {

// A sync takes milliseconds, and whoever saves is on a thread that all actors
// share.
TEST(disk_vault, keeps_on_a_thread_of_its_own) {
  const test::scratch_folder scratch;
  std::mutex mutex;
  std::condition_variable changed;
  std::multiset<std::thread::id> kept; ///< By which thread, each.
  const auto made = disk_vault::open(scratch.path(), "a", {});
  ASSERT_TRUE(made);
  client_file file;
  for (std::uint64_t i = 1; i <= 8; ++i) {
    file.incarnation = i;
    EXPECT_FALSE((*made)->save({i}, file,
                               [&] {
                                 const std::lock_guard guard{mutex};
                                 kept.insert(std::this_thread::get_id());
                                 changed.notify_all();
                               }))
      << "it waits for no disk";
  }
  std::unique_lock guard{mutex};
  changed.wait_for(guard, std::chrono::seconds{20},
                   [&] { return kept.size() == 8; });
  ASSERT_EQ(kept.size(), 8U);
  EXPECT_EQ(kept.count(*kept.begin()), 8U) << "one writes for all";
  EXPECT_NE(*kept.begin(), std::this_thread::get_id());
}

} // namespace
} // namespace troupe::actors
