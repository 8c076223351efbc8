#include "models/data/partition.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace troupe::models::partition_test {

namespace {

constexpr std::int64_t classes = 10;

/// Labels that occur unequally often, in a random order.
example_set labelled(std::size_t size, std::uint64_t seed) {
  random_stream random{seed};
  example_set x;
  x.size = size;
  for (std::size_t i = 0; i < size; ++i)
    x.labels.push_back(
      static_cast<std::int64_t>(std::min(random.below(10), random.below(20))));
  return x;
}

/// With as many natural owners and column values as the laws ask for: 20.
dataset example() {
  dataset x;
  x.name = "example";
  x.classes = classes;
  x.train = labelled(3000, 1);
  x.test = labelled(500, 2);
  x.natural.emplace();
  x.natural->train.resize(20);
  x.natural->test.resize(20);
  for (std::uint32_t i = 0; i < x.train.size; ++i) {
    x.partition_column.push_back(100
                                 - 5 * static_cast<std::int64_t>(i * i % 20));
    x.natural->train[i * 7 % 20].push_back(i);
  }
  for (std::uint32_t i = 0; i < 20; ++i) // Squares leave gaps; fill them.
    x.partition_column[i] = 100 - 5 * static_cast<std::int64_t>(i);
  for (std::uint32_t i = 0; i < x.test.size; ++i)
    x.natural->test[i % 20].push_back(i);
  return x;
}

partition made(const dataset& data, const partition_options& opts) {
  auto x = make_partition(data, opts);
  EXPECT_TRUE(x) << x.error().context;
  return x ? *x : partition{};
}

std::string refusal(const dataset& data, const partition_options& opts) {
  const auto x = make_partition(data, opts);
  if (x)
    return "made";
  EXPECT_EQ(x.error().code, errc::invalid_config);
  return x.error().context;
}

std::vector<std::uint32_t>
flat(const std::vector<std::vector<std::uint32_t>>& xs) {
  std::vector<std::uint32_t> all;
  for (const auto& x : xs)
    all.insert(all.end(), x.begin(), x.end());
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::uint32_t> up_to(std::size_t n) {
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

std::size_t labels_of(const std::vector<std::uint64_t>& counts) {
  return static_cast<std::size_t>(
    std::count_if(counts.begin(), counts.end(), [](auto n) { return n > 0; }));
}

/// The share of a client's rows that have its commonest label, on average.
double mean_skew(const label_counts& table) {
  double sum = 0;
  for (const auto& row : table)
    sum += static_cast<double>(*std::max_element(row.begin(), row.end()))
           / static_cast<double>(
             std::accumulate(row.begin(), row.end(), std::uint64_t{0}));
  return sum / static_cast<double>(table.size());
}

} // namespace

class partitioner_test : public ::testing::TestWithParam<partitioner> {
protected:
  const dataset data = example();
  const partition_options opts{.how = GetParam(), .clients = 20, .seed = 3};
};

TEST_P(partitioner_test, every_row_has_exactly_one_owner) {
  const auto x = made(data, opts);
  EXPECT_EQ(x.train.size(), 20u);
  EXPECT_EQ(x.test.size(), 20u);
  EXPECT_EQ(flat(x.train), up_to(data.train.size));
  EXPECT_EQ(flat(x.test), up_to(data.test.size));
}

TEST_P(partitioner_test, nobody_is_without_examples) {
  for (const auto& rows : made(data, opts).train)
    EXPECT_GE(rows.size(), 1u);
}

TEST_P(partitioner_test, equal_seeds_give_equal_partitions) {
  const auto a = made(data, opts);
  const auto b = made(data, opts);
  EXPECT_EQ(a.train, b.train);
  EXPECT_EQ(a.test, b.test);
}

TEST_P(partitioner_test, another_seed_gives_another_partition) {
  auto other = opts;
  other.seed = 4;
  const bool given = std::holds_alternative<column_partition>(GetParam())
                     || std::holds_alternative<natural_partition>(GetParam());
  EXPECT_EQ(made(data, opts).train == made(data, other).train, given);
}

TEST_P(partitioner_test, rows_of_a_client_are_sorted) {
  const auto x = made(data, opts);
  for (const auto* lists : {&x.train, &x.test})
    for (const auto& rows : *lists)
      EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
}

TEST_P(partitioner_test, keeps_whole_clients_for_the_end) {
  auto held = opts;
  held.held_out = 5;
  const auto x = made(data, held);
  EXPECT_EQ(x.held_out, 5u);
  EXPECT_EQ(x.train, made(data, opts).train);
  held.held_out = 20;
  EXPECT_EQ(refusal(data, held),
            "partition: held_out is 20 of 20 clients; at least "
            "one must be left to train");
}

TEST_P(partitioner_test, sets_rows_aside_that_nobody_trains_on) {
  auto aside = opts;
  aside.validation = 0.1;
  aside.held_out = 2;
  const auto x = made(data, aside);
  auto lists = x.train;
  lists.push_back(x.validation);
  EXPECT_EQ(flat(lists), up_to(data.train.size));
  EXPECT_TRUE(std::is_sorted(x.validation.begin(), x.validation.end()));
  const auto before = made(data, opts);
  std::size_t trained = 0;
  for (std::size_t k = 0; k < 18; ++k) {
    trained += before.train[k].size();
    EXPECT_GE(x.train[k].size(), 1u);
    EXPECT_NEAR(static_cast<double>(x.train[k].size()),
                0.9 * static_cast<double>(before.train[k].size()), 1);
  }
  EXPECT_NEAR(static_cast<double>(x.validation.size()),
              static_cast<double>(trained) / 10, 3);
  // Clients that are held out keep what they have.
  EXPECT_EQ(x.train[18], before.train[18]);
  EXPECT_EQ(x.train[19], before.train[19]);
}

TEST_P(partitioner_test, leaves_out_what_is_above_the_most) {
  auto few = opts;
  few.examples_max = 50;
  const auto x = made(data, few);
  const auto all = made(data, opts);
  for (std::size_t k = 0; k < 20; ++k) {
    EXPECT_EQ(x.train[k].size(),
              std::min<std::size_t>(50, all.train[k].size()));
    EXPECT_TRUE(std::includes(all.train[k].begin(), all.train[k].end(),
                              x.train[k].begin(), x.train[k].end()));
  }
  EXPECT_EQ(flat(x.test), up_to(data.test.size));
}

TEST_P(partitioner_test, test_rows_follow_the_labels_of_the_training_rows) {
  if (std::holds_alternative<natural_partition>(GetParam()))
    return; // There the data says.
  const auto x = made(data, opts);
  const auto train = label_table(data, x);
  const auto test = label_table(data, x, split::test);
  std::vector<double> of_train(classes);
  std::vector<double> of_test(classes);
  for (std::size_t c = 0; c < classes; ++c)
    for (std::size_t k = 0; k < 20; ++k) {
      of_train[c] += static_cast<double>(train[k][c]);
      of_test[c] += static_cast<double>(test[k][c]);
    }
  for (std::size_t k = 0; k < 20; ++k)
    for (std::size_t c = 0; c < classes; ++c) {
      const auto quota =
        static_cast<double>(train[k][c]) / of_train[c] * of_test[c];
      EXPECT_LT(std::abs(static_cast<double>(test[k][c]) - quota), 1.0);
    }
}

INSTANTIATE_TEST_SUITE_P(
  all, partitioner_test,
  ::testing::Values(
    iid_partition{}, dirichlet_partition{.alpha = 0.5},
    dirichlet_partition{.alpha = 0.001}, labels_partition{.count = 1},
    labels_partition{.count = 3}, shards_partition{.count = 2},
    lognormal_partition{.sigma = 2}, disjoint_partition{.clusters = 5},
    power_partition{.exponent = 1.5}, column_partition{}, natural_partition{}));

TEST(partition, iid_parts_differ_by_one_row_at_most) {
  const auto x = made(example(), {.clients = 7});
  for (const auto& rows : x.train) {
    EXPECT_GE(rows.size(), 428u);
    EXPECT_LE(rows.size(), 429u);
  }
}

TEST(partition, smaller_alphas_are_more_skewed) {
  const auto data = example();
  const auto skew = [&](double alpha) {
    return mean_skew(label_table(
      data,
      made(data, {.how = dirichlet_partition{.alpha = alpha}, .clients = 20})));
  };
  EXPECT_GT(skew(0.05), 0.6);
  EXPECT_GT(skew(0.05), skew(0.5) + 0.1);
  EXPECT_GT(skew(0.5), skew(5) + 0.1);
  EXPECT_LT(skew(1000), 0.2);
}

TEST(partition, everybody_reaches_the_minimum_however_skewed) {
  const auto data = example();
  for (const partitioner how :
       {partitioner{dirichlet_partition{.alpha = 0.001}},
        partitioner{lognormal_partition{.sigma = 4}},
        partitioner{power_partition{.exponent = 4}}})
    for (const auto& rows :
         made(data, {.how = how, .clients = 100, .examples_min = 10}).train)
      EXPECT_GE(rows.size(), 10u);
}

TEST(partition, each_client_has_as_many_labels_as_asked_for) {
  const auto data = example();
  for (const std::uint32_t count : {1u, 2u, 3u, 7u, 10u}) {
    const auto table = label_table(
      data,
      made(data, {.how = labels_partition{.count = count}, .clients = 20}));
    std::vector<std::size_t> holders(classes);
    for (const auto& counts : table) {
      EXPECT_EQ(labels_of(counts), count);
      for (std::size_t c = 0; c < classes; ++c)
        holders[c] += counts[c] > 0;
    }
    // 20 clients of n labels each make 2n holders of each of 10 labels.
    for (const auto n : holders)
      EXPECT_EQ(n, 2 * count);
  }
}

TEST(partition, clusters_of_disjoint_labels_share_what_they_have_evenly) {
  const auto data = example();
  const auto x =
    made(data, {.how = disjoint_partition{.clusters = 5}, .clients = 12});
  for (const auto part : {split::train, split::test}) {
    const auto table = label_table(data, x, part);
    for (std::size_t k = 0; k < table.size(); ++k)
      for (std::size_t label = 0; label < classes; ++label)
        EXPECT_EQ(table[k][label] > 0, label % 5 == k % 5);
  }
  for (std::size_t k = 5; k < 12; ++k)
    EXPECT_NEAR(double(x.train[k].size()), double(x.train[k - 5].size()), 1);
}

TEST(partition, a_share_of_the_training_rows_leaves_the_test_rows) {
  const auto data = example(); // 3,000 training rows.
  const partition_options all{.clients = 6, .seed = 3};
  auto few = all;
  few.train_share = 0.05;
  const auto whole = made(data, all), reduced = made(data, few);
  EXPECT_EQ(reduced.test, whole.test);
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_EQ(reduced.train[k].size(), 25u);
    EXPECT_TRUE(std::includes(whole.train[k].begin(), whole.train[k].end(),
                              reduced.train[k].begin(),
                              reduced.train[k].end()));
  }
  few.train_share = 0.001; // Half a row: ten are left.
  EXPECT_EQ(made(data, few).train.front().size(), 10u);
  few.clients = 500; // Of six rows each.
  EXPECT_EQ(made(data, few).train.front().size(), 6u);
}

TEST(partition, a_client_of_two_shards_has_few_labels) {
  const auto data = example();
  const auto x =
    made(data, {.how = shards_partition{.count = 2}, .clients = 50});
  for (const auto& counts : label_table(data, x))
    EXPECT_LE(labels_of(counts), 4u); // A shard may lie across a border.
  for (const auto& rows : x.train)
    EXPECT_EQ(rows.size(), 60u);
}

TEST(partition, sizes_are_skewed_and_labels_are_not) {
  const auto data = example();
  const auto x =
    made(data, {.how = power_partition{.exponent = 1}, .clients = 10});
  std::vector<std::size_t> sizes;
  for (const auto& rows : x.train)
    sizes.push_back(rows.size());
  std::sort(sizes.rbegin(), sizes.rend());
  // One row each, and of 2,990 the share 1/k over the sum of 1/1 to
  // 1/10, 2.929.
  EXPECT_NEAR(static_cast<double>(sizes[0]), 1 + 2990 / 2.929, 1);
  EXPECT_NEAR(static_cast<double>(sizes[9]), 1 + 2990 / 29.29, 1);
  EXPECT_LT(mean_skew(label_table(data, x)), 0.25);
}

TEST(partition, a_column_makes_a_client_of_each_value_in_order) {
  dataset data;
  data.name = "towns";
  data.classes = 2;
  data.train = {.size = 5, .inputs = {}, .labels = {0, 1, 0, 1, 1}};
  data.partition_column = {30, 10, 30, 20, 10};
  const auto x = made(data, {.how = column_partition{}, .clients = 0});
  const std::vector<std::vector<std::uint32_t>> expected{{1, 4}, {3}, {0, 2}};
  EXPECT_EQ(x.train, expected);
  EXPECT_EQ(
    refusal(data, {.how = column_partition{}, .clients = 4}),
    "partition: clients is 4, but the data has 3; that number would do");
}

TEST(partition, a_class_that_nobody_trains_on_is_tested_by_all) {
  dataset data;
  data.name = "gap";
  data.classes = 2;
  data.train = {.size = 4, .inputs = {}, .labels = {0, 0, 0, 0}};
  data.test = {.size = 4, .inputs = {}, .labels = {1, 1, 1, 1}};
  for (const auto& rows : made(data, {.clients = 4}).test)
    EXPECT_EQ(rows.size(), 1u);
}

TEST(partition, the_label_table_counts_by_client_and_class) {
  dataset data;
  data.classes = 3;
  data.train = {.size = 4, .inputs = {}, .labels = {0, 2, 2, 1}};
  data.test = {.size = 1, .inputs = {}, .labels = {1}};
  const partition x{.train = {{0, 1, 2}, {3}}, .test = {{}, {0}}};
  EXPECT_EQ(label_table(data, x), (label_counts{{1, 0, 2}, {0, 1, 0}}));
  EXPECT_EQ(label_table(data, x, split::test),
            (label_counts{{0, 0, 0}, {0, 1, 0}}));
}

TEST(partition, says_what_is_wrong_and_what_would_do) {
  auto data = example();
  EXPECT_EQ(refusal(data, {.how = dirichlet_partition{.alpha = 0}}),
            "partition: alpha is 0.000000; a number above 0 would do");
  EXPECT_EQ(refusal(data, {.how = labels_partition{.count = 11}}),
            "partition: labels_per_client is 11; 1 to 10 would do");
  EXPECT_EQ(
    refusal(data, {.how = labels_partition{.count = 2}, .clients = 4}),
    "partition: 4 clients of 2 labels leave some of the 10 labels to nobody; "
    "more clients would do");
  EXPECT_EQ(refusal(data, {.how = shards_partition{.count = 31}}),
            "partition: shards per client is 31; 1 to 30 would do");
  EXPECT_EQ(refusal(data, {.how = disjoint_partition{.clusters = 11}}),
            "partition: 'clusters' is 11; 1 to 10, each with a label and a "
            "client, would do");
  EXPECT_EQ(refusal(data, {.train_share = 0}),
            "partition: train_share is 0.000000; above 0, to 1, would do");
  EXPECT_EQ(refusal(data, {.clients = 0}),
            "partition: clients is 0; 1 to 1048576 would do");
  EXPECT_EQ(
    refusal(data, {.clients = 100, .examples_min = 31}),
    "partition: 31 or more for each of 100 clients cannot be had from 3000 "
    "training examples; fewer clients, or an examples_min from 1, would do");
  EXPECT_EQ(refusal(data, {.how = shards_partition{}, .examples_min = 30}),
            "made");
  EXPECT_EQ(
    refusal(data, {.how = natural_partition{}, .clients = 19}),
    "partition: clients is 19, but the data has 20; that number would do");
  data.natural.reset();
  data.partition_column.clear();
  EXPECT_EQ(refusal(data, {.how = natural_partition{}}),
            "partition: 'example' does not say who holds what; another kind of "
            "partition would do");
  EXPECT_EQ(
    refusal(data, {.how = column_partition{}}),
    "partition: 'example' has no column to partition by; naming one would do");
}

} // namespace troupe::models::partition_test
