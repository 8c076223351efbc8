// FlexLoRA's visit: HETLoRA's ranks, which nobody gives up.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "models/adapters/adapter_factors.hpp"
#include "tests/support/adapter_site.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::test::flexlora_test {

namespace {

/// 4 inputs, 3 targets, an adapter of rank 4: u has 12 values and v 16.
struct flex_case {
  std::shared_ptr<const models::regression_problem> problem =
    linear_problem(4, 3, 12, 5);
  std::vector<float> common = models::draw(28, 1);
  models::optimiser_kind optimiser = models::optimiser_kind::sgd;

  adapter_site site(options said, std::string_view method) const {
    said["rank"] = 4;
    models::training_options how;
    how.local_steps = 3;
    how.batch_size = 0;
    how.learning_rate = 0.01;
    how.optimiser = optimiser;
    return adapter_site{
      {.method = method, .problem = problem, .how = how, .said = said}};
  }

  models::trained
  trained(options said, std::string_view method = "flexlora",
          std::shared_ptr<const models::client_state> state = {}) const {
    const auto at = site(std::move(said), method);
    const auto out = at.trainer->train(at.visit(common, state));
    EXPECT_TRUE(out) << out.error().context;
    return out ? *out : models::trained{};
  }
};

options of_rank(double rank) {
  return {{"rank_first", rank}, {"rank_last", rank}};
}

} // namespace

TEST(flexlora, of_the_full_rank_trains_as_homlora_and_weighs_by_examples) {
  const flex_case c;
  const auto flex = c.trained(of_rank(4));
  const auto hom = c.trained({}, "homlora");
  EXPECT_EQ(*flex.parts.at(0).delta, *hom.parts.at(0).delta);
  EXPECT_EQ(flex.parts[0].weight, 12);
  EXPECT_EQ(hom.parts[0].weight, 1);
}

TEST(flexlora, trains_and_offers_the_ranks_that_it_has) {
  const flex_case c;
  const auto out = c.trained(of_rank(2));
  EXPECT_EQ(out.parts.at(0).rank, 2u);
  EXPECT_EQ(out.parts[0].delta->size(), 2u * 7);
  EXPECT_EQ(out.next.counters.at("rank"), 2u);
  const auto left = out.next.blocks.at("left_adapter").own_view();
  for (std::size_t j = 0; j < 28; ++j)
    EXPECT_EQ(left[j] == 0, j < 12 ? j >= 6 : j - 12 >= 8) << j;
}

TEST(flexlora, keeps_the_rank_that_it_had) {
  const flex_case c;
  auto state = std::make_shared<models::client_state>();
  state->counters["rank"] = 3;
  const auto out = c.trained(of_rank(2), "flexlora", state);
  EXPECT_EQ(out.next.counters.at("rank"), 3u);
  EXPECT_EQ(out.parts.at(0).rank, 3u);
}

// What they were of is no factor of the next version.
TEST(flexlora, begins_each_visit_without_moments) {
  flex_case c;
  c.optimiser = models::optimiser_kind::adamw;
  auto state = std::make_shared<models::client_state>();
  state->visits = 1;
  state->counters["adapter.steps"] = 7;
  for (const auto* name : {"adapter.first", "adapter.second"})
    state->moments[name] = personal_values{std::vector<float>(28, 1)};
  const auto first = c.trained(of_rank(4));
  EXPECT_TRUE(first.next.moments.empty());
  EXPECT_EQ(*c.trained(of_rank(4), "flexlora", state).parts.at(0).delta,
            *first.parts.at(0).delta);
}

} // namespace troupe::test::flexlora_test
