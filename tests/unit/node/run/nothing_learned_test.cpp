// A run that ends as it began says so.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/support/small_runs.hpp"

namespace troupe::test::nothing_learned_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<std::string> notes_of(const overrides& changes) {
  const scratch_folder scratch;
  const auto done =
    finished(configured(quadratic_run, changes, scratch.path()));
  EXPECT_TRUE(done.method == "local" || done.versions > 0);
  return done.notes;
}

} // namespace

TEST(nothing_learned, is_said_where_a_run_ends_as_it_began_to_the_bit) {
  const auto note =
    StartsWith("nothing was learned: what was merged is what the run began "
               "with, to the bit");
  for (const std::string idle :
       {"learning_rate=1e-300", "merge.clip_norm=1e-30"}) {
    EXPECT_THAT(notes_of({idle}), ElementsAre(note)) << idle;
    EXPECT_THAT(notes_of({idle, "method=ditto"}),
                ElementsAre(HasSubstr("clients share was learned")))
      << idle;
  }
}

TEST(nothing_learned, is_not_said_where_something_was) {
  EXPECT_THAT(notes_of({}), IsEmpty());
  // Nothing is merged, so nothing could have changed.
  EXPECT_THAT(notes_of({"method=local"}), IsEmpty());
}

} // namespace troupe::test::nothing_learned_test
