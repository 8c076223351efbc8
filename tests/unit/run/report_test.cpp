// Every run leaves its page, however it ends.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <sstream>

#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

using testing::HasSubstr;

std::string page_in(const std::string& folder) {
  std::ifstream file{folder + "/report.html"};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class run_report : public testing::Test {
protected:
  std::string page_after(const overrides& changes) {
    return page_in(
      finished(configured(quadratic_run, changes, scratch_.path())).folder);
  }

  scratch_folder scratch_;
};

} // namespace

TEST_F(run_report, is_left_by_a_run_with_all_of_its_events) {
  for (const std::string ledger : {"ledger=memory", "ledger=disk"}) {
    const auto text = page_after({"events=true", ledger});
    // Six rounds of four: every visit is merged, and fresh.
    EXPECT_THAT(text, HasSubstr("<tr><th scope=\"row\">merged into a version"
                                "</th><td>24 <small>100.0 %"));
    EXPECT_THAT(text, HasSubstr("100.0 % of the offers were fresh"));
    EXPECT_THAT(text, HasSubstr("✓ Ended:"));
  }
}

TEST_F(run_report, is_left_by_a_run_that_was_interrupted) {
  const std::atomic<bool> stop{true};
  const auto done = node::run(configured(quadratic_run, {}, scratch_.path()),
                              {.make_model = no_model, .stop = &stop});
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_THAT(page_in(done->folder), HasSubstr("Interrupted:"));
}

TEST_F(run_report, names_every_line_of_a_method_with_several) {
  const auto text = page_after({"method=scaffold", "events=true"});
  EXPECT_THAT(text, HasSubstr("Versions over virtual time"));
}

} // namespace troupe::test
