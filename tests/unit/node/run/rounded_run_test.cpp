// Runs in which what is sent is rounded, wherever a client is: the laws of all
// runs hold for these too.

#include <gtest/gtest.h>

#include "tests/support/any_model.hpp"
#include "tests/support/ended_runs.hpp"
#include "tests/support/plain_run.hpp"

namespace troupe::test::rounded_run_test {

namespace {

class rounded_run : public ::testing::Test {
protected:
  /// All that may be.
  static std::vector<std::string> methods() {
    std::vector<std::string> names;
    for (const auto& x : methods_of_any_model())
      if (may_be_rounded(x))
        names.push_back(x.name);
    return names;
  }

  node::experiment described(const std::string& method, overrides more) const {
    more.insert(more.begin(), "merge.wire=bf16");
    return configured(quadratic_run, of_method(method, more), at.path());
  }

  static result<node::workload> prepared(const node::experiment& x) {
    return node::prepare(x, no_model);
  }

  scratch_folder at;
};

} // namespace

TEST_F(rounded_run, is_the_plain_loop_for_every_method_that_averages) {
  EXPECT_GT(methods().size(), 8u);
  for (const auto& method : methods())
    for (const overrides& change :
         {overrides{}, overrides{"clip_norm=0.05"},
          overrides{"server.optimiser=adam", "server_learning_rate=0.5"}})
      expect_plain_run(described(method, change), no_model,
                       method + " with " + ::testing::PrintToString(change));
}

TEST_F(rounded_run, learns_the_same_with_any_workers_clock_and_events) {
  for (const auto& method : methods()) {
    const auto wanted = finished(described(method, {"workers=1"})).digest;
    EXPECT_EQ(finished(described(method, {"clock=wall", "events=true",
                                          "ledger=disk", "evaluate_every=1"}))
                .digest,
              wanted)
      << method;
    const auto plain = configured(quadratic_run, of_method(method), at.path());
    EXPECT_NE(finished(plain).digest, wanted) << method;
  }
}

TEST_F(rounded_run, is_computed_again_in_every_pace) {
  for (const auto& method : methods())
    for (const auto pace : {pace_kind::sync, pace_kind::semisync,
                            pace_kind::fedbuff, pace_kind::fedasync}) {
      if (policies::standing_of(*policies::find_recipe(method), pace)
          == standing::refused)
        continue;
      const std::string mode{policies::to_string(pace)};
      SCOPED_TRACE(method + " under " + mode);
      expect_computed_again(
        ended(
          described(method, under(mode, {"events=true", "evaluate_every=0"})),
          prepared),
        prepared, mode == "sync");
    }
}

} // namespace troupe::test::rounded_run_test
