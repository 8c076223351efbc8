// What clients keep, of a run that is computed again.

#include "node/commands/computed_again.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/recorded_runs.hpp"

namespace troupe::test::computed_again_test {

namespace {

std::string example() {
  std::ifstream file{TROUPE_SOURCE_DIR
                     "/deploy/examples/floral/synthetic_linear.toml"};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Of clients that learn by themselves, so that no digest is in its record.
class lonely_run_again : public ::testing::Test {
protected:
  /// How it ends where it is computed again.
  result<void> again(overrides changes) {
    changes.insert(changes.begin(),
                   {"method=local", "rounds=4", "events=true"});
    const auto done = node::run(configured(example(), changes, scratch_.path()),
                                {.make_model = no_model});
    if (!done)
      return tl::make_unexpected(done.error());
    const auto run = node::read_finished_run(done->folder, no_model);
    if (!run)
      return tl::make_unexpected(run.error());
    return node::compute_again(
      *run, no_model,
      [&](const node::replayed_moment&) {
        ++looks_;
        return result<void>{};
      },
      [&](const std::string& what) { said_ = what; });
  }

  scratch_folder scratch_;
  int looks_ = 0;
  std::string said_; ///< What it was at last.
};

} // namespace

TEST_F(lonely_run_again, is_held_to_its_scores) {
  const auto ok = again({"evaluate_every=2"});
  EXPECT_TRUE(ok) << ok.error().context;
  EXPECT_GT(looks_, 0);
  EXPECT_THAT(said_,
              ::testing::MatchesRegex("computing the run again, [0-9]+ %"));
}

TEST_F(lonely_run_again, is_refused_where_nothing_says_that_it_is_the_run) {
  const auto ok = again({"evaluate_every=0"});
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().code, errc::invalid_config);
  EXPECT_THAT(ok.error().context,
              HasSubstr("nothing of the run could be compared, so what is "
                        "computed again may be of another run; the same run "
                        "with evaluate_every above 0"));
}

} // namespace troupe::test::computed_again_test
