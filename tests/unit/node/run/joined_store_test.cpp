#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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

} // namespace
} // namespace troupe::node
