// What a run may stop by.

#include "models/watched.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace troupe::models {

namespace {

/// Clients of a whole and of half a nat a token, right in one and in two of
/// four.
evaluated sample() {
  evaluated x;
  x.validation = {.loss = 3, .correct = 1, .count = 2};
  x.own_validation[{1}] = {.loss = 4, .correct = 1, .count = 4};
  x.own_validation[{2}] = {.loss = 2, .correct = 2, .count = 4};
  return x;
}

} // namespace

TEST(watched, is_of_all_rows_or_of_clients) {
  EXPECT_EQ(metric_of(watched::accuracy, sample()), 0.5);
  EXPECT_EQ(metric_of(watched::loss, sample()), 1.5);
  EXPECT_EQ(metric_of(watched::clients_mean, sample()), 0.375);
  EXPECT_EQ(metric_of(watched::clients_worst, sample()), 0.25);
}

// Not of the mean loss, which is of tokens and not of clients.
TEST(watched, is_a_mean_of_clients_perplexities) {
  EXPECT_NEAR(metric_of(watched::clients_perplexity, sample()),
              (std::exp(1) + std::exp(0.5)) / 2, 1e-12);
  EXPECT_TRUE(std::isnan(metric_of(watched::clients_perplexity, {})));
}

TEST(watched, is_better_where_it_is_less_or_more) {
  EXPECT_TRUE(less_is_better(watched::loss));
  EXPECT_TRUE(less_is_better(watched::clients_perplexity));
  EXPECT_FALSE(less_is_better(watched::accuracy));
  EXPECT_FALSE(less_is_better(watched::clients_mean));
  EXPECT_FALSE(less_is_better(watched::clients_worst));
  EXPECT_TRUE(of_clients(watched::clients_perplexity));
  EXPECT_FALSE(of_clients(watched::loss));
}

} // namespace troupe::models
