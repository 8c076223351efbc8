#include "node/watch/summary.hpp"

#include <gmock/gmock.h>

namespace troupe::node::summary_test {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(summary, counts_one_as_one) {
  run_summary x;
  x.versions = 1;
  x.visits = 1;
  x.rounds = 1;
  EXPECT_THAT(to_text(x), HasSubstr("  versions   1 of 1 visit in 1 round\n"));
  x.visits = 12;
  x.rounds = 3;
  EXPECT_THAT(to_text(x),
              HasSubstr("  versions   1 of 12 visits in 3 rounds\n"));
}

// Two blocks that each round makes anew are no twice as many versions.
TEST(summary, says_of_versions_that_several_lines_have_them) {
  run_summary x;
  x.versions = 8;
  x.visits = 12;
  x.rounds = 4;
  x.heads = {{"model", 8}, {"model.buffers", 8}};
  EXPECT_THAT(to_text(x), HasSubstr("  versions   8 of 12 visits in 4 rounds"));
  x.heads = {{"attention", 4}, {"generalist", 4}};
  EXPECT_THAT(to_text(x),
              HasSubstr("  versions   8 over all lines, the longest "
                        "4, of 12 visits in 4 rounds\n"));
}

TEST(summary, says_where_nothing_was_scored) {
  run_summary x;
  const auto note =
    HasSubstr("  scored     nothing: without rows to test with there is no "
              "loss\n");
  EXPECT_THAT(to_text(x), note);
  x.is_evaluated = false;
  EXPECT_THAT(to_text(x),
              HasSubstr("  scored     nothing: 'evaluate_every' is 0\n"));
  x.is_evaluated = true;
  x.clients_loss = 1.5;
  EXPECT_THAT(to_text(x), Not(note));
  x.clients_loss.reset();
  x.failed = true;
  EXPECT_THAT(to_text(x), Not(note));
}

TEST(summary, says_of_answers_how_many_of_their_words_are_found) {
  run_summary x;
  EXPECT_THAT(to_text(x), Not(HasSubstr("answers")));
  x.method_results = {{"answer_exact", 0.5}, {"answer_f1", 0.625}};
  EXPECT_THAT(to_text(x),
              HasSubstr("\n  answers    exact 0.5000, F1 0.6250 in the mean of "
                        "clients\n"));
}

TEST(summary, has_notes_for_people_and_for_programs) {
  run_summary x;
  EXPECT_THAT(to_text(x), Not(HasSubstr("note")));
  EXPECT_EQ(to_long_json(x).find("notes")->dump(), "[]");
  x.notes = {"nothing was learned"};
  EXPECT_THAT(to_text(x), HasSubstr("\n  note       nothing was learned\n"));
  EXPECT_EQ(to_long_json(x).find("notes")->dump(),
            "[\"nothing was learned\"]");
}

} // namespace troupe::node::summary_test
