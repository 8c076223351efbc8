#include "node/watch/board.hpp"

#include <gtest/gtest.h>

namespace troupe::node {

TEST(status_desk, says_why_actors_broke_first_until_they_are_there_again) {
  status_desk testee;
  testee.whole();
  testee.broke("it threw");
  testee.broke("the ledger cannot be read");
  EXPECT_EQ(testee.broken(), "it threw");
  EXPECT_EQ(testee.restarts(), 1u);
  testee.whole();
  EXPECT_EQ(testee.broken(), "");
  testee.broke("");
  EXPECT_EQ(testee.broken(), "it did not say why");
  EXPECT_EQ(testee.restarts(), 2u);
}

TEST(status_desk, counts_no_restart_of_what_was_never_there) {
  status_desk testee;
  testee.broke("the ledger cannot be read");
  EXPECT_EQ(testee.broken(), "the ledger cannot be read");
  testee.whole();
  EXPECT_EQ(testee.broken(), "");
  EXPECT_EQ(testee.restarts(), 0u);
}

} // namespace troupe::node
