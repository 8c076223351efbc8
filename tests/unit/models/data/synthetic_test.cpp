#include "models/data/synthetic.hpp"

#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "models/data/partition.hpp"

namespace troupe::models::synthetic_test {

namespace {

const std::vector<float>& inputs(const example_set& x) {
  return std::get<std::vector<float>>(x.inputs.at(0).values);
}

dataset made(const synthetic_options& opts) {
  auto x = make_synthetic(opts);
  EXPECT_TRUE(x) << x.error().context;
  return x ? *x : dataset{};
}

/// The mean of dimension `j` over a client's training rows.
double mean_of(const dataset& x, std::size_t client, std::size_t j) {
  double sum = 0;
  for (const auto row : x.natural->train[client])
    sum += inputs(x.train)[row * 60 + j];
  return sum / static_cast<double>(x.natural->train[client].size());
}

double variance_of(const dataset& x, std::size_t client, std::size_t j) {
  const auto mean = mean_of(x, client, j);
  double sum = 0;
  for (const auto row : x.natural->train[client])
    sum += std::pow(inputs(x.train)[row * 60 + j] - mean, 2);
  return sum / static_cast<double>(x.natural->train[client].size());
}

} // namespace

TEST(synthetic, holds_what_the_generator_of_fedprox_makes) {
  const auto x = made({.seed = 1});
  ASSERT_EQ(x.natural->train.size(), 30u);
  EXPECT_EQ(x.classes, 10);
  EXPECT_EQ(inputs(x.train).size(), x.train.size * 60);
  EXPECT_EQ(inputs(x.test).size(), x.test.size * 60);
  EXPECT_EQ(x.train.labels.size(), x.train.size);
  for (std::size_t k = 0; k < 30; ++k) {
    const auto train = x.natural->train[k].size();
    const auto all = train + x.natural->test[k].size();
    EXPECT_GE(all, 50u);
    EXPECT_EQ(train, all * 9 / 10);
  }
  for (const auto label : x.train.labels) {
    EXPECT_GE(label, 0);
    EXPECT_LT(label, 10);
  }
}

TEST(synthetic, is_a_function_of_the_seed_and_a_client_of_its_number) {
  const auto a = made({.seed = 7});
  const auto b = made({.seed = 7});
  EXPECT_EQ(inputs(a.train), inputs(b.train));
  EXPECT_EQ(a.test.labels, b.test.labels);
  EXPECT_NE(inputs(a.train), inputs(made({.seed = 8}).train));
  const auto fewer = made({.clients = 2, .seed = 7});
  EXPECT_EQ(fewer.natural->train[1], a.natural->train[1]);
  EXPECT_EQ(inputs(fewer.train).back(),
            inputs(a.train)[a.natural->train[1].back() * 60 + 59]);
}

TEST(synthetic, inputs_vary_less_along_later_dimensions) {
  const auto x = made({.clients = 100, .seed = 1});
  double first = 0;
  double tenth = 0;
  for (std::size_t k = 0; k < 100; ++k) {
    first += variance_of(x, k, 0) / 100;
    tenth += variance_of(x, k, 9) / 100;
  }
  EXPECT_NEAR(first, 1, 0.1);
  EXPECT_NEAR(tenth, std::pow(10, -1.2), 0.01);
}

TEST(synthetic, beta_says_how_far_clients_lie_apart) {
  const auto spread = [](double beta) {
    const auto x = made({.beta = beta, .clients = 100, .seed = 1});
    double sum = 0;
    for (std::size_t k = 0; k < 100; ++k)
      sum += std::pow(mean_of(x, k, 59), 2) / 100;
    return sum;
  };
  // The variance of v_k is that of B_k plus 1.
  EXPECT_NEAR(spread(0), 1, 0.3);
  EXPECT_NEAR(spread(3), 10, 3);
}

TEST(synthetic, every_label_is_as_likely_over_many_clients) {
  const auto x = made({.alpha = 0, .beta = 0, .clients = 150, .seed = 1});
  std::vector<double> share(10);
  for (std::size_t k = 0; k < 150; ++k) {
    std::vector<double> mine(10);
    for (const auto row : x.natural->train[k])
      mine[static_cast<std::size_t>(x.train.labels[row])] +=
        1.0 / static_cast<double>(x.natural->train[k].size());
    for (std::size_t c = 0; c < 10; ++c)
      share[c] += mine[c] / 150;
  }
  for (const auto s : share)
    EXPECT_NEAR(s, 0.1, 0.06);
}

TEST(synthetic, deals_its_rows_by_its_own_partition) {
  const auto x = made({.seed = 3});
  const auto parts =
    make_partition(x, {.how = natural_partition{}, .clients = 30});
  ASSERT_TRUE(parts) << parts.error().context;
  EXPECT_EQ(parts->train, x.natural->train);
  EXPECT_EQ(parts->test, x.natural->test);
  const auto by_column =
    make_partition(x, {.how = column_partition{}, .clients = 30});
  ASSERT_TRUE(by_column) << by_column.error().context;
  EXPECT_EQ(by_column->train, x.natural->train);
}

TEST(synthetic, refuses_what_it_cannot_draw) {
  const auto text = [](const synthetic_options& opts) {
    const auto x = make_synthetic(opts);
    return x ? "made" : x.error().context;
  };
  EXPECT_EQ(text({.alpha = -1}),
            "synthetic: alpha is -1.000000; 0 or more would do");
  EXPECT_EQ(text({.clients = 0}),
            "synthetic: clients is 0; 1 to 1048576 would do");
  EXPECT_EQ(text({.classes = 1}),
            "synthetic: classes is 1; 2 to 4096 would do");
}

} // namespace troupe::models::synthetic_test
