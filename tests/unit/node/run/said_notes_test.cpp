// When a run says what is odd about its configuration.

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/support/small_runs.hpp"

namespace troupe::test::said_notes_test {

namespace {

std::string shown_by(const overrides& changes) {
  const scratch_folder scratch;
  std::ostringstream text;
  (void)node::run(
    configured(quadratic_run, changes, scratch.path()),
    {.make_model = no_model, .progress = &text, .notes = {"so and so"}});
  return text.str();
}

} // namespace

TEST(said_notes, stand_before_all_that_a_run_says) {
  EXPECT_EQ(shown_by({}).find("note: so and so\nrunning fedavg"), 0u);
}

// Else an error would be the second thing that people read.
TEST(said_notes, are_not_said_of_a_run_that_cannot_begin) {
  const auto text = shown_by({"init=/nowhere"});
  EXPECT_EQ(text.find("so and so"), std::string::npos);
  EXPECT_EQ(text.find("running"), std::string::npos);
}

} // namespace troupe::test::said_notes_test
