// What a few rounds of FedProx's experiment show on any draw of its data; the
// whole of it is in tests/experiments/.

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "tests/support/prox_experiment.hpp"
#include "tests/support/softmax_objective.hpp"

namespace troupe::test {

TEST(synthetic_federation, softmax_regression_has_the_slope_of_its_loss) {
  const auto data = synthetic_data(1, 9);
  softmax_objective model{data};
  random_stream random{3};
  for (auto& x : model.parameters())
    x = static_cast<float>(0.1 * random.normal());
  const std::vector<std::uint32_t> batch{0, 40, 1000, 1001, 4000};
  ASSERT_TRUE(model.backward(batch, 0));
  const std::vector<float> slope(model.gradient().begin(),
                                 model.gradient().end());
  for (const std::size_t j : {0u, 61u, 300u, 599u, 600u, 609u}) {
    const float w = model.parameters()[j];
    model.parameters()[j] = w + 1e-2f;
    const auto above = *model.backward(batch, 0);
    model.parameters()[j] = w - 1e-2f;
    const auto below = *model.backward(batch, 0);
    model.parameters()[j] = w;
    EXPECT_NEAR((above - below) / 2e-2, slope[j], 2e-3) << j;
  }
}

TEST(synthetic_federation,
     a_proximal_term_helps_and_makes_stragglers_harmless) {
  const auto data = synthetic_data(1, 9);
  const auto average = train(data, {.rounds = 20});
  const auto proximal =
    train(data, {.procedure = "proximal_sgd", .proximal = 1, .rounds = 20});
  const auto partial = train(data, {.procedure = "proximal_sgd",
                                    .proximal = 1,
                                    .stragglers = 0.9,
                                    .rounds = 20});
  EXPECT_LT(proximal.loss.back(), average.loss.back() - 0.05);
  EXPECT_NEAR(partial.loss.back(), proximal.loss.back(), 0.01);
}

TEST(synthetic_federation, dropping_stragglers_makes_averages_slow_and_shaky) {
  const auto data = synthetic_data(1, 9);
  const auto all = train(data, {.rounds = 20});
  const auto partial = train(data, {.stragglers = 0.9, .rounds = 20});
  // Cheap: nine of ten visits do nothing.
  const auto dropped =
    train(data, {.stragglers = 0.9, .drop = true, .rounds = 100});
  EXPECT_GT(dropped.loss[9], 1.5 * all.loss[9]);
  EXPECT_LT(partial.loss[9], 1.5 * all.loss[9])
    << "partial work is worth having";
  EXPECT_GT(largest_fall(dropped.accuracy), 0.15);
  EXPECT_LT(largest_fall(partial.accuracy), 0.1);
}

TEST(synthetic_federation,
     a_proximal_term_helps_on_less_different_clients_too) {
  const auto data = synthetic_data(0, 5);
  const auto average = train(data, {.rounds = 20});
  const auto proximal =
    train(data, {.procedure = "proximal_sgd", .proximal = 1, .rounds = 20});
  EXPECT_LT(proximal.loss.back(), average.loss.back() - 0.05);
  EXPECT_GT(proximal.accuracy.back(), average.accuracy.back());
}

} // namespace troupe::test
