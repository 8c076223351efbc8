#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/record/folder_lock.hpp"
#include "node/join/store.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(joined_store, says_once_that_other_runs_are_set_aside) {
  const test::scratch_folder scratch;
  const auto said_of = [&](const std::string& run) {
    std::vector<std::string> said;
    join_context in;
    in.store = scratch.path();
    in.say = [&](const std::string& x) { said.push_back(x); };
    EXPECT_TRUE(open_vault(in, run, ""));
    return said;
  };
  EXPECT_THAT(said_of("a"), IsEmpty());
  EXPECT_THAT(said_of("b"), ElementsAre(HasSubstr("has clients of another run, "
                                                  "which are set aside")));
  EXPECT_THAT(said_of("b"), IsEmpty());
  EXPECT_THAT(said_of("a"), IsEmpty());
  EXPECT_THAT(said_of("c"), ElementsAre(HasSubstr("of 2 other runs")));
}

// As of one that was killed a moment ago.
TEST(joined_store, waits_for_a_process_that_is_ending_and_says_so) {
  const test::scratch_folder scratch;
  const auto home = std::filesystem::path{scratch.path()} / "run-a";
  std::filesystem::create_directories(home);
  auto other = actors::folder_lock::take(home, "clients.lock");
  ASSERT_TRUE(other);
  std::optional<actors::folder_lock> held{std::move(*other)};
  std::vector<std::string> said;
  join_context in;
  in.store = scratch.path();
  in.say = [&](const std::string& x) {
    said.push_back(x);
    held.reset();
  };
  EXPECT_TRUE(open_vault(in, "a", ""));
  EXPECT_THAT(said, ElementsAre(HasSubstr("works in this folder; it may be "
                                          "ending, and is waited for")));
}

} // namespace
} // namespace troupe::node
