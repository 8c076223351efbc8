// What a procedure refuses at each visit is refused before there is a run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/task/workload.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

using ::testing::HasSubstr;

node::experiment with(const std::string& method, const overrides& more,
                      const std::string& folder = {}) {
  auto all = of_method(method, {"rounds=2"});
  all.insert(all.end(), more.begin(), more.end());
  return configured(quadratic_run, all, folder);
}

const std::vector<overrides> optimisers{{},
                                        {"training.momentum=0.9"},
                                        {"weight_decay=0.01"},
                                        {"training.optimiser=adamw"}};

} // namespace

TEST(optimiser, that_a_method_cannot_step_with_is_refused) {
  for (const auto* method : {"pfedme", "per_fedavg", "fedrep"}) {
    const auto x = with(method, {"training.momentum=0.9"});
    const auto made = node::prepare(x, no_model);
    ASSERT_FALSE(made) << method;
    EXPECT_THAT(made.error().context, HasSubstr("learns by plain SGD"))
      << method;
  }
  const auto scaffold =
    node::prepare(with("scaffold", {"training.optimiser=adamw"}), no_model);
  ASSERT_FALSE(scaffold);
  EXPECT_THAT(scaffold.error().context, HasSubstr("control variates"));
}

// Of every method that can train this model at all.
TEST(optimiser, that_is_taken_fails_no_visit) {
  int tried = 0;
  for (const auto* method : node::all_methods().built) {
    if (!node::prepare(with(method->name, {}), no_model))
      continue;
    for (const auto& optimiser : optimisers) {
      const scratch_folder scratch;
      const auto x = with(method->name, optimiser, scratch.path());
      if (!node::prepare(x, no_model))
        continue;
      const auto done = node::run(x, {.make_model = no_model});
      ASSERT_TRUE(done) << done.error().context;
      EXPECT_FALSE(done->failed) << method->name << ": " << done->reason;
      ++tried;
    }
  }
  EXPECT_GT(tried, 20);
}

} // namespace troupe::test
