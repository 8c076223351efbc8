// What clients are worth as they left what they share, beside what they are
// worth after it was merged.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "models/methods/merged_scores.hpp"
#include "tests/support/adapter_site.hpp"
#include "tests/support/blind_model.hpp"
#include "tests/support/paper_model.hpp"
#include "tests/support/small_adapters.hpp"
#include "tests/support/small_language.hpp"

namespace troupe::test::left_scores_test {

namespace {

using models::floats;

/// Half of two rows and all of three are right; mean losses are 2 and 1.
models::worth_of_clients two_clients() {
  models::worth_of_clients worth{"left"};
  worth.add({1}, {.loss = 4, .correct = 1, .count = 2});
  worth.add({2}, {.loss = 3, .correct = 3, .count = 3});
  return worth;
}

} // namespace

TEST(worth_of_clients, is_a_mean_over_clients_and_not_over_rows) {
  blind_model model;
  std::map<std::string, double> found;
  two_clients().put(model, found);
  const std::map<std::string, double> expected{{"loss_left", 1.5},
                                               {"accuracy_left", 0.75},
                                               {"accuracy_left.1", 0.5},
                                               {"accuracy_left.2", 1}};
  EXPECT_EQ(found, expected);
  std::map<std::string, double> none;
  models::worth_of_clients{"left"}.put(model, none);
  EXPECT_TRUE(none.empty());
}

// A curve has its points where nothing is learned yet, too.
TEST(worth_of_clients, has_accuracies_where_no_row_is_right) {
  blind_model model;
  models::worth_of_clients worth{"left"};
  worth.add({1}, {.loss = 4, .correct = 0, .count = 2});
  std::map<std::string, double> found;
  worth.put(model, found);
  const std::map<std::string, double> expected{
    {"loss_left", 2}, {"accuracy_left", 0}, {"accuracy_left.1", 0}};
  EXPECT_EQ(found, expected);
}

TEST(worth_of_clients, has_losses_of_each_where_rows_are_numbers) {
  models::regression model{linear_problem(4, 3, 12, 5), {}};
  std::map<std::string, double> found;
  two_clients().put(model, found);
  const std::map<std::string, double> expected{
    {"loss_left", 1.5}, {"loss_left.1", 2}, {"loss_left.2", 1}};
  EXPECT_EQ(found, expected);
}

TEST(worth_of_clients, is_the_mean_of_their_perplexities_where_tokens_count) {
  paper_model model{test::small_gpt2()};
  std::map<std::string, double> found;
  two_clients().put(model, found);
  EXPECT_NEAR(found.at("perplexity_left"), (std::exp(2) + std::exp(1)) / 2,
              1e-12);
  EXPECT_NEAR(found.at("perplexity_left.2"), std::exp(1), 1e-12);
  EXPECT_FALSE(found.contains("accuracy_left"));
}

TEST(worth_of_clients, has_perplexities_that_stay_numbers) {
  const models::scores far{.loss = 1000, .correct = 0, .count = 1};
  EXPECT_TRUE(std::isinf(far.perplexity()));
  EXPECT_TRUE(std::isfinite(models::finite_perplexity(far)));
  const models::scores near{.loss = 4, .correct = 0, .count = 2};
  EXPECT_EQ(models::finite_perplexity(near), near.perplexity());
}

TEST(left_scores, are_of_adapters_before_they_are_merged) {
  for (const std::string method : {"homlora", "pf2lora", "hetlora"}) {
    SCOPED_TRACE(method);
    options said{{"rank", 2}};
    if (method == "hetlora")
      said.insert({{"rank_min", 2}, {"rank_first", 2}, {"rank_last", 2}});
    if (method == "pf2lora")
      said["own_rank"] = 1;
    models::training_options how;
    how.local_steps = 3;
    how.batch_size = 0;
    how.learning_rate = 0.01;
    const adapter_site site{{.method = method,
                             .problem = linear_problem(4, 3, 12, 5),
                             .how = how,
                             .said = said}};
    const auto out = site.trainer->train(
      site.visit(models::draw(14, 1), keeping(models::draw(7, 2))));
    ASSERT_TRUE(out) << out.error().context;
    const auto state = std::make_shared<const models::client_state>(out->next);
    const auto scored = [&](const floats& common) {
      const auto found =
        site.trainer->evaluate({.versions = site.visit(common).fetched,
                                .per_client = true,
                                .states = {{{1}, state}}});
      EXPECT_TRUE(found) << found.error().context;
      return found ? *found : models::evaluated{};
    };
    const auto values = out->next.blocks.at("left_adapter").own_view();
    // As if nobody else had offered anything.
    const auto alone = scored({values.begin(), values.end()});
    const auto own = alone.per_client.at({1}).mean_loss();
    EXPECT_EQ(alone.method_results.at("loss_left"), own);
    const auto merged = scored(models::draw(14, 5));
    EXPECT_EQ(merged.method_results.at("loss_left.1"), own);
    EXPECT_NE(merged.per_client.at({1}).mean_loss(), own);
    EXPECT_FALSE(merged.method_results.contains("accuracy_left"));
  }
}

} // namespace troupe::test::left_scores_test
