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
    EXPECT_EQ(made.error().context,
              "--set training.momentum=0.9: method '" + std::string{method}
                + "' learns by plain SGD: training.optimiser = \"sgd\", "
                  "training.momentum = 0 and training.weight_decay = 0 would "
                  "do");
  }
  const auto scaffold =
    node::prepare(with("scaffold", {"training.optimiser=adamw"}), no_model);
  ASSERT_FALSE(scaffold);
  EXPECT_EQ(scaffold.error().context,
            "--set training.optimiser=adamw: control variates are means of "
            "gradients, which \"adamw\" does not leave behind; "
            "training.optimiser = \"sgd\" would do");
}

// Each key by its whole name: two sections have an 'optimiser'.
TEST(optimiser, that_is_refused_has_its_place) {
  const auto refused = [](const std::string& method, const overrides& more) {
    const auto made = node::prepare(with(method, more), no_model);
    EXPECT_FALSE(made) << method;
    return made ? std::string{} : made.error().context;
  };
  for (const auto* method : {"fedprox", "ditto"})
    EXPECT_EQ(refused(method, {"training.optimiser=adamw"}),
              "--set training.optimiser=adamw: \"adamw\" has no proximal term "
              "and no correction of its gradient; training.optimiser = "
              "\"sgd\" would do");
  EXPECT_THAT(refused("fedrep", {"weight_decay=0.01"}),
              HasSubstr("--set weight_decay=0.01: method 'fedrep' learns"));
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
