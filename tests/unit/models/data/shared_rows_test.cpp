// Partitions in which clients share rows.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/data/kinds.hpp"
#include "models/data/partition.hpp"
#include "models/data/shared_facts.hpp"

namespace troupe::models::shared_rows_test {

namespace {

constexpr std::uint32_t nobody = ~std::uint32_t{0};

/// Of `classes` labels in turn, in sets of so many rows.
dataset labelled(std::int64_t classes, std::size_t train, std::size_t test) {
  dataset x;
  x.name = "example";
  x.classes = classes;
  for (auto* set : {&x.train, &x.test}) {
    set->size = set == &x.train ? train : test;
    for (std::size_t i = 0; i < set->size; ++i)
      set->labels.push_back(static_cast<std::int64_t>(i) % classes);
  }
  return x;
}

/// 300 training and 50 test rows of each of ten labels.
dataset example() {
  return labelled(10, 3000, 500);
}

/// 5 anchors, 19 others, and 6 that are held out.
partition_options with_anchors(combinations_partition how) {
  how.anchors = 5;
  return {.how = how, .clients = 30, .held_out = 6, .seed = 3};
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

bool has_twice(const std::vector<std::uint32_t>& sorted) {
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

} // namespace

TEST(shared_rows, anchors_divide_the_kinds) {
  const auto data = example();
  const auto x = made(data, with_anchors({}));
  const auto facts = facts_of(data, x, 5);
  EXPECT_TRUE(facts.anchors_disjoint);
  EXPECT_TRUE(facts.anchors_cover);
  for (std::size_t k = 0; k < 5; ++k)
    EXPECT_EQ(facts.kinds[k].size(), 2u);
  for (std::size_t row = 0; row < data.test.size; ++row) {
    const auto label = static_cast<std::uint32_t>(data.test.labels[row]);
    const auto& mine = facts.kinds[x.test_owners[row]];
    EXPECT_TRUE(std::find(mine.begin(), mine.end(), label) != mine.end());
  }
  // Eleven labels among three: four, four and three.
  auto opts = with_anchors({});
  std::get<combinations_partition>(opts.how).anchors = 3;
  const auto eleven = labelled(11, 3300, 550);
  const auto parts = facts_of(eleven, made(eleven, opts), 3);
  EXPECT_TRUE(parts.anchors_disjoint && parts.anchors_cover);
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(static_cast<double>(parts.kinds[k].size()), 3.5, 0.5);
}

TEST(shared_rows, have_unseen_combinations) {
  const auto data = example();
  // Of two labels an anchor's is a combination as well, which is seen.
  for (const std::uint32_t kinds : {2u, 4u})
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
      auto opts = with_anchors({.kinds = kinds});
      opts.seed = seed;
      const auto facts = facts_of(data, made(data, opts), 5);
      EXPECT_TRUE(facts.unseen());
      EXPECT_EQ(facts.withheld.size(), 6u);
      for (std::size_t k = 5; k < 30; ++k)
        EXPECT_EQ(facts.kinds[k].size(), kinds);
    }
}

TEST(shared_rows, may_have_seen_combinations) {
  // 180 clients train on ten pairs of five labels.
  const auto data = labelled(5, 1000, 100);
  combinations_partition how{.kinds = 2, .unseen = false};
  partition_options opts{.how = how, .clients = 200, .held_out = 20, .seed = 1};
  EXPECT_FALSE(facts_of(data, made(data, opts), 0).unseen());
  // Two are kept for all who are held out.
  how.unseen = true;
  how.withheld = 2;
  opts.how = how;
  const auto facts = facts_of(data, made(data, opts), 0);
  EXPECT_TRUE(facts.unseen());
  EXPECT_EQ(facts.withheld.size(), 2u);
  const std::set<kind_set> all(facts.kinds.begin(), facts.kinds.end());
  EXPECT_EQ(all.size(), 10u);
}

TEST(shared_rows, are_drawn_from_more_combinations_than_can_be_listed) {
  const auto data = labelled(100, 5000, 500); // 10 of 100 are 10^13.
  const partition_options opts{
    .how = combinations_partition{.kinds = 10, .anchors = 10},
    .clients = 50,
    .held_out = 10};
  const auto facts = facts_of(data, made(data, opts), 10);
  EXPECT_TRUE(facts.unseen());
  EXPECT_EQ(facts.withheld.size(), 10u);
  EXPECT_TRUE(facts.anchors_disjoint && facts.anchors_cover);
}

TEST(shared_rows, are_as_many_for_each_client) {
  const auto data = example();
  const auto x = made(data, with_anchors({}));
  const auto table = kind_table(data, x);
  for (std::size_t k = 0; k < 24; ++k) {
    EXPECT_EQ(x.train[k].size(), 125u); // 3,000 over 24.
    EXPECT_FALSE(has_twice(x.train[k]));
    for (const auto n : table[k])
      EXPECT_TRUE(n == 0 || (k < 5 ? n == 62 || n == 63 : n == 31 || n == 32));
  }
  EXPECT_GT(facts_of(data, x, 5).shared_rows, 500u);
  for (const auto& rows : made(data, with_anchors({.rows = 80})).train)
    EXPECT_TRUE(rows.size() == 80 || rows.empty());
  const auto by_kind = made(data, with_anchors({.rows_per_kind = 30}));
  EXPECT_EQ(by_kind.train[0].size(), 60u);
  EXPECT_EQ(by_kind.train[5].size(), 120u);
  const auto most = made(data, with_anchors({.rows_per_kind = 301}));
  EXPECT_EQ(most.train[0].size(), 600u); // There are 300 of each.
}

TEST(shared_rows, may_be_all_of_their_kinds) {
  const auto x = made(example(), with_anchors({.all_rows = true}));
  for (std::size_t k = 0; k < 24; ++k) {
    EXPECT_EQ(x.train[k].size(), k < 5 ? 600u : 1200u);
    EXPECT_FALSE(has_twice(x.train[k]));
    EXPECT_TRUE(std::is_sorted(x.train[k].begin(), x.train[k].end()));
  }
}

TEST(shared_rows, are_none_of_training_where_a_client_is_held_out) {
  const auto data = example();
  for (const bool all : {false, true}) {
    const auto x = made(data, with_anchors({.all_rows = all}));
    const auto test = kind_table(data, x, split::test);
    std::vector<std::size_t> holders(data.test.size);
    for (std::size_t k = 0; k < 24; ++k)
      for (const auto row : x.test[k])
        ++holders[row];
    for (const auto n : holders) // Who trains shares no test rows.
      EXPECT_LE(n, 1u);
    for (std::size_t k = 24; k < 30; ++k) {
      EXPECT_TRUE(x.train[k].empty());
      EXPECT_EQ(x.test[k].size(), 200u); // All 50 of each of four.
      for (const auto n : test[k])
        EXPECT_TRUE(n == 0 || n == 50);
    }
  }
}

TEST(shared_rows, test_rows_are_of_the_kinds_that_one_trains_on) {
  const auto data = example();
  const auto x = made(data, with_anchors({}));
  const auto train = kind_table(data, x);
  const auto test = kind_table(data, x, split::test);
  for (std::size_t k = 0; k < 24; ++k)
    for (std::size_t kind = 0; kind < 10; ++kind)
      EXPECT_TRUE(train[k][kind] > 0 || test[k][kind] == 0);
}

TEST(shared_rows, that_are_set_aside_are_nobodys) {
  const auto data = example();
  auto opts = with_anchors({.all_rows = true});
  opts.validation = 0.1;
  const auto x = made(data, opts);
  EXPECT_NEAR(static_cast<double>(x.validation.size()), 300, 1);
  EXPECT_FALSE(has_twice(x.validation));
  const auto before = made(data, with_anchors({.all_rows = true}));
  for (std::size_t k = 0; k < 30; ++k) {
    for (const auto row : x.train[k])
      EXPECT_FALSE(
        std::binary_search(x.validation.begin(), x.validation.end(), row));
    // What a client held is its own, whoever else held it.
    for (const auto row : x.own_validation[k])
      EXPECT_TRUE(
        std::binary_search(x.validation.begin(), x.validation.end(), row));
    EXPECT_EQ(x.train[k].size() + x.own_validation[k].size(),
              before.train[k].size());
  }
  opts.examples_min = 590; // Anchors had 600.
  const auto bounded = made(data, opts);
  for (std::size_t k = 0; k < 24; ++k)
    EXPECT_GE(bounded.train[k].size(), 590u);
}

TEST(shared_rows, of_a_group_are_of_its_kinds) {
  const auto data = example();
  combinations_partition how{.kinds = 2, .anchors = 5, .groups = 5};
  // Two labels for each group make one combination: nobody can be held out.
  partition_options opts{.how = how, .clients = 30, .seed = 5};
  const auto facts = facts_of(data, made(data, opts), 5);
  for (std::size_t k = 0; k < 30; ++k)
    EXPECT_EQ(facts.kinds[k], facts.kinds[k % 5]);
  EXPECT_TRUE(facts.anchors_disjoint && facts.anchors_cover);
  how.groups = 2; // Ten combinations of two of five labels; anchors have some.
  how.anchors = 4;
  opts.how = how;
  opts.held_out = 4;
  const auto two = facts_of(data, made(data, opts), 4);
  EXPECT_TRUE(two.unseen());
  std::set<std::uint32_t> kinds[2];
  for (std::size_t k = 0; k < 30; ++k)
    kinds[k % 2].insert(two.kinds[k].begin(), two.kinds[k].end());
  EXPECT_EQ(kinds[0].size(), 5u);
  EXPECT_EQ(kinds[1].size(), 5u);
  for (const auto kind : kinds[0])
    EXPECT_FALSE(kinds[1].contains(kind));
}

TEST(shared_rows, are_the_same_for_equal_seeds_alone) {
  const auto data = example();
  for (const auto& how : {partitioner{combinations_partition{.anchors = 5}},
                          partitioner{mixtures_partition{}}}) {
    partition_options opts{.how = how, .clients = 30, .held_out = 6};
    const auto a = made(data, opts);
    const auto b = made(data, opts);
    EXPECT_EQ(a.train, b.train);
    EXPECT_EQ(a.test, b.test);
    opts.seed = 1;
    EXPECT_NE(made(data, opts).train, a.train);
  }
}

TEST(shared_rows, of_mixtures_are_of_few_kinds_where_alpha_is_small) {
  const auto data = example();
  const auto skew = [&](double alpha) {
    const auto x =
      made(data, {.how = mixtures_partition{.alpha = alpha, .rows = 100},
                  .clients = 60,
                  .held_out = 10});
    EXPECT_TRUE(x.test_owners.empty());
    const auto table = kind_table(data, x);
    std::uint64_t most = 0;
    for (std::size_t k = 0; k < 50; ++k) {
      EXPECT_EQ(x.train[k].size(), 100u);
      EXPECT_FALSE(has_twice(x.train[k]));
      most += *std::max_element(table[k].begin(), table[k].end());
    }
    for (std::size_t k = 50; k < 60; ++k) {
      EXPECT_TRUE(x.train[k].empty());
      EXPECT_EQ(x.test[k].size(), 20u); // A fifth.
    }
    return static_cast<double>(most) / 5000;
  };
  EXPECT_GT(skew(0.1), 0.5);
  EXPECT_LT(skew(1000), 0.2);
}

TEST(shared_rows, go_by_domains_where_there_are_some) {
  auto data = example();
  for (auto* set : {&data.train, &data.test})
    for (std::size_t i = 0; i < set->size; ++i)
      set->domains.push_back(static_cast<std::uint8_t>(i / 7 % 5));
  EXPECT_EQ(name_of_kinds(data), "domains");
  const partition_options opts{
    .how = combinations_partition{.kinds = 2, .anchors = 5},
    .clients = 30,
    .held_out = 3};
  const auto x = made(data, opts);
  const auto facts = facts_of(data, x, 5);
  for (std::size_t k = 0; k < 30; ++k)
    EXPECT_EQ(facts.kinds[k].size(), k < 5 ? 1u : 2u);
  EXPECT_TRUE(facts.unseen() && facts.anchors_disjoint && facts.anchors_cover);
  for (std::size_t row = 0; row < data.test.size; ++row)
    EXPECT_EQ(facts.kinds[x.test_owners[row]].front(), data.test.domains[row]);
}

TEST(shared_rows, have_no_owner_of_a_kind_that_nobody_trains_on) {
  auto data = labelled(3, 300, 30);
  for (auto& label : data.train.labels)
    label = label == 2 ? 1 : label;
  const auto x =
    made(data, {.how = combinations_partition{.kinds = 1, .anchors = 2},
                .clients = 4});
  EXPECT_EQ(x.test_owners[2], nobody);
  EXPECT_LT(x.test_owners[1], 2u);
  EXPECT_TRUE(facts_of(data, x, 2).anchors_cover);
}

TEST(shared_rows, say_what_is_wrong_and_what_would_do) {
  const auto data = example();
  const auto combined = [&](combinations_partition how,
                            std::uint32_t held_out = 0) {
    return refusal(data, {.how = how, .clients = 100, .held_out = held_out});
  };
  EXPECT_EQ(combined({.anchors = 20}),
            "partition: anchors is 20: 10 labels cannot be shared out to 20 "
            "anchors; at most 10 would do");
  EXPECT_EQ(combined({.kinds = 10}, 20),
            "partition: there is no combination of 10 of 10 labels left for 20 "
            "held-out clients; a smaller 'held_out' or fewer "
            "'kinds_per_client' would do");
  EXPECT_EQ(combined({.kinds = 9}, 10), // All ten would be withheld.
            "partition: there is no combination of 9 of 10 labels left for 10 "
            "held-out clients; a smaller 'held_out' or fewer "
            "'kinds_per_client' would do");
  EXPECT_EQ(combined({.kinds = 9}, 9), "made");
  EXPECT_EQ(combined({.kinds = 9, .withheld = 10}, 1),
            "partition: there are too few combinations of 9 of 10 labels to "
            "withhold 10; a smaller 'withheld' or another 'kinds_per_client' "
            "would do");
  // More than half of 125,970: who trains would seek for long.
  EXPECT_EQ(
    refusal(labelled(20, 2000, 20),
            {.how = combinations_partition{.kinds = 8, .withheld = 100'000},
             .clients = 100}),
    "partition: there are too few combinations of 8 of 20 labels to "
    "withhold 100000; a smaller 'withheld' or another "
    "'kinds_per_client' would do");
  EXPECT_EQ(combined({.kinds = 12}),
            "partition: kinds_per_client is 12, and the data has 10 kinds; 1 "
            "to 10 would do");
  EXPECT_EQ(combined({.kinds = 3, .groups = 5}),
            "partition: kinds_per_client is 3, and each of 5 groups has 2 of "
            "10 kinds; 1 to 2 would do");
  EXPECT_EQ(combined({.kinds = 1, .groups = 11}),
            "partition: groups is 11, and the data has 10 kinds; 1 to 10 would "
            "do");
  EXPECT_EQ(combined({.kinds = 2, .anchors = 3, .groups = 5}),
            "partition: anchors is 3, and there are 5 groups: each needs one "
            "of its own; 0, or from 5, would do");
  EXPECT_EQ(combined({.anchors = 5}, 96),
            "partition: anchors is 5, and 4 clients train; at most that would "
            "do");
  EXPECT_EQ(combined({.rows = 3}),
            "partition: a client would have 3 rows, and client 1 has 4 kinds; "
            "rows_per_client from that, or fewer clients, would do");
  EXPECT_EQ(refusal(data, {.how = mixtures_partition{.alpha = 0}}),
            "partition: alpha is 0.000000; a number above 0 would do");
  EXPECT_EQ(refusal(data, {.how = mixtures_partition{.anchors = 101}}),
            "partition: anchors is 101, and 100 clients train; at most that "
            "would do");
}

TEST(shared_rows, are_no_more_than_memory_has_room_for) {
  const auto data = labelled(2, 10'000, 10);
  EXPECT_EQ(refusal(data, {.how = mixtures_partition{.rows = 10'000},
                           .clients = 200'000}),
            "partition: clients would hold 2000000000 rows together, which is "
            "above 2^30; fewer rows of each, or fewer clients, would do");
}

} // namespace troupe::models::shared_rows_test
