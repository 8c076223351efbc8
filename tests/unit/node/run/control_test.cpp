#include "node/run/control.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "node/run/seal_file.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {
namespace {

using namespace std::chrono_literals;

TEST(control, ends_a_run_on_demand_and_says_how) {
  // Longer than the name of a socket may be.
  const test::scratch_folder scratch;
  const auto folder =
    std::filesystem::path{scratch.path()} / std::string(120, 'x');
  std::filesystem::create_directory(folder);
  auto opened = control::open(folder);
  ASSERT_TRUE(opened) << opened.error().context;
  struct stat found {};
  ASSERT_EQ(stat((folder / "control").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u) << "its owner's alone";
  EXPECT_FALSE((*opened)->stop_wanted());
  auto asked =
    std::async(std::launch::async, [&] { return ask_to_stop(folder); });
  for (int i = 0; i < 8000 && !(*opened)->stop_wanted(); ++i)
    std::this_thread::sleep_for(5ms);
  EXPECT_TRUE((*opened)->stop_wanted());
  (*opened)->ended("500 rounds\nand more");
  opened->reset();
  const auto answer = asked.get();
  EXPECT_TRUE(answer.reached);
  EXPECT_TRUE(answer.ended);
  EXPECT_EQ(answer.text, "500 rounds and more");
  EXPECT_FALSE(std::filesystem::exists(folder / "control"));
}

TEST(control, says_that_nobody_is_there_or_has_said_how) {
  const test::scratch_folder folder;
  EXPECT_FALSE(
    ask_to_stop(folder.path(), [] { ADD_FAILURE() << "waits"; }).reached);
  EXPECT_FALSE(ask_to_stop("/no/such/folder").reached);
  auto opened = control::open(folder.path());
  ASSERT_TRUE(opened);
  bool waits = false;
  auto asked = std::async(std::launch::async, [&] {
    return ask_to_stop(folder.path(), [&] { waits = true; });
  });
  while (!(*opened)->stop_wanted())
    std::this_thread::sleep_for(5ms);
  opened->reset();
  const auto answer = asked.get();
  EXPECT_TRUE(answer.reached);
  EXPECT_TRUE(waits);
  EXPECT_FALSE(answer.ended);
}

TEST(control, takes_the_place_of_one_that_was_killed) {
  const test::scratch_folder folder;
  auto first = control::open(folder.path());
  ASSERT_TRUE(first);
  auto second = control::open(folder.path());
  EXPECT_TRUE(second);
}

TEST(control, changes_the_key_of_tickets_on_demand) {
  const test::scratch_folder folder;
  EXPECT_EQ(ask_to_rotate(folder.path(), 5), std::nullopt) << "nobody is there";
  std::int64_t asked = 0;
  bool works = true;
  auto opened =
    control::open(folder.path(), [&](std::int64_t for_ms) -> result<void> {
      asked = for_ms;
      return works ? result<void>{} : fail(errc::storage_failure, "no room");
    });
  ASSERT_TRUE(opened);
  EXPECT_EQ(ask_to_rotate(folder.path(), 60'000), "");
  EXPECT_EQ(asked, 60'000);
  works = false;
  EXPECT_EQ(ask_to_rotate(folder.path(), 1), "no room");
  EXPECT_FALSE((*opened)->stop_wanted());
}

TEST(seal_file, keeps_what_a_run_signs_with_and_refuses_half_of_it) {
  const test::scratch_folder folder;
  const auto path = std::filesystem::path{folder.path()} / "seal";
  const auto none = read_seals(path);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  using former = actors::seals::former;
  actors::seals::keys x{.now = {1}};
  std::int64_t now_ms = 1000;
  for (std::size_t i = 0; i < actors::seals::former_max; ++i, now_ms += 100) {
    const auto next = after(x, now_ms, 5000);
    ASSERT_TRUE(next);
    EXPECT_NE(next->now, x.now);
    auto before = x.before;
    before.insert(before.begin(), former{x.now, now_ms + 5000});
    EXPECT_EQ(next->before, before);
    x = *next;
    ASSERT_TRUE(write_seals(path, x));
    const auto found = read_seals(path);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->now, x.now);
    EXPECT_EQ((*found)->before, x.before);
  }
  // Nobody's tickets end before their time for one more.
  const auto none_is_over = after(x, now_ms, 5000);
  ASSERT_FALSE(none_is_over);
  EXPECT_THAT(none_is_over.error().context, ::testing::HasSubstr("8 keys"));
  x.before[2].until_ms = now_ms;
  const auto over = x.before[2];
  const auto one_is = after(x, now_ms, 5000);
  ASSERT_TRUE(one_is);
  EXPECT_EQ(one_is->before.size(), actors::seals::former_max);
  EXPECT_EQ(std::ranges::count(one_is->before, over), 0);
  EXPECT_EQ(one_is->before.back(), x.before.back());
  const auto size = std::filesystem::file_size(path);
  for (std::uintmax_t n = 0; n < size; n += 7) {
    std::filesystem::resize_file(path, n);
    EXPECT_FALSE(read_seals(path)) << n;
    ASSERT_TRUE(write_seals(path, x));
  }
}

} // namespace
} // namespace troupe::node
