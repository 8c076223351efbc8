// What a model and its adapters begin with, as the configuration scales it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "node/task/frozen.hpp"
#include "node/task/workload.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

/// Of a family's first block.
std::vector<float> first_of(const std::string& family, const overrides& changes,
                            double model_scale = 1) {
  auto x = configured(quadratic_run, changes, {});
  x.model.init_scale = model_scale; // A key of models that need more than this.
  const auto made = node::prepare(x, no_model);
  if (!made) {
    ADD_FAILURE() << made.error().context;
    return {};
  }
  return made->initial.at(made->blocks->family(family).front()).copy();
}

float largest(const std::vector<float>& xs) {
  float most = 0;
  for (const auto x : xs)
    most = std::max(most, std::abs(x));
  return most;
}

} // namespace

TEST(first_values, of_a_model_are_scaled) {
  const auto plain = first_of("model", {});
  const auto half = first_of("model", {}, 0.5);
  ASSERT_FALSE(plain.empty());
  ASSERT_EQ(half.size(), plain.size());
  EXPECT_GT(largest(plain), 0);
  for (std::size_t i = 0; i < plain.size(); ++i)
    EXPECT_EQ(half[i], static_cast<float>(plain[i] * 0.5));
  EXPECT_EQ(largest(first_of("model", {}, 0)), 0);
}

TEST(first_values, of_a_random_factor_are_within_its_scale) {
  const auto scaled = [](const std::string& by) {
    return largest(first_of(
      "adapter", {"method=homlora", "data.kind=low_rank", "data.truth=gaussian",
                  "model.kind=regression", "model.hidden=[]", "clients=2",
                  "clients_per_round=2", "options.init_scale=" + by}));
  };
  const auto one = scaled("1");
  EXPECT_GT(one, 0);
  EXPECT_NEAR(scaled("2"), 2 * one, 1e-6);
}

TEST(first_values, that_are_clients_own_and_all_the_same_are_of_the_run) {
  const auto seed_of = [](const std::string& seed) {
    const auto made =
      node::prepare(configured(quadratic_run, {"seed=" + seed}, {}), no_model);
    EXPECT_TRUE(made) << made.error().context;
    return made ? made->task->first_seed : 0;
  };
  EXPECT_EQ(seed_of("3"), derive_seed(3, "initial"));
  EXPECT_NE(seed_of("4"), seed_of("3"));
}

TEST(first_values, of_what_adapters_stand_on_are_in_the_layout) {
  const auto x =
    configured(quadratic_run,
               {"method=homlora", "data.kind=low_rank", "data.truth=gaussian",
                "model.kind=regression", "model.hidden=[]", "clients=2",
                "clients_per_round=2"},
               {});
  const auto made = node::prepare(x, no_model);
  ASSERT_TRUE(made) << made.error().context;
  ASSERT_TRUE(made->blocks);
  ASSERT_EQ(made->blocks->frozen.size(), 1u);
  EXPECT_EQ(made->blocks->frozen[0].name, "model");
  EXPECT_EQ(made->blocks->frozen[0].content,
            node::frozen_digests(*made).at("model"));
  EXPECT_EQ(made->task->blocks.fingerprint(), made->blocks->fingerprint());
}

} // namespace troupe::test
