#include "models/language/label_deal.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace troupe::models::label_deal_test {

namespace {

using ::testing::ElementsAre;
using counts = std::vector<std::size_t>;
using parts = std::map<text_part, row_list>;

/// Label after label.
row_list labels_of(const counts& of_each) {
  row_list all;
  for (std::size_t label = 0; label < of_each.size(); ++label)
    all.insert(all.end(), of_each[label], static_cast<std::uint32_t>(label));
  return all;
}

/// Ten labels, of which the last is a hundredth of the first.
parts unequal() {
  return {{text_part::train,
           labels_of({4000, 2000, 1000, 800, 600, 400, 200, 100, 80, 40})},
          {text_part::validation,
           labels_of({1000, 500, 250, 200, 150, 100, 50, 25, 20, 10})},
          {text_part::test,
           labels_of({2000, 1000, 500, 400, 300, 200, 100, 50, 40, 20})}};
}

std::map<text_part, row_lists> dealt(const parts& labels,
                                     const label_deal& how) {
  auto found = deal_by_label(labels, how);
  EXPECT_TRUE(found) << found.error().context;
  return found ? std::move(*found) : std::map<text_part, row_lists>{};
}

/// Labels of each client.
std::vector<std::set<std::uint32_t>> held(const row_list& labels,
                                          const row_lists& clients) {
  std::vector<std::set<std::uint32_t>> out;
  for (const auto& rows : clients) {
    auto& own = out.emplace_back();
    for (const auto row : rows)
      own.insert(labels[row]);
  }
  return out;
}

std::set<std::uint32_t>
union_of(std::span<const std::set<std::uint32_t>> clients) {
  std::set<std::uint32_t> all;
  for (const auto& own : clients)
    all.insert(own.begin(), own.end());
  return all;
}

/// Sections of an archive, as unequal as these are.
counts sections() {
  return {1300, 190, 2100, 20,  180,  990, 1170, 620, 4400,
          5800, 390, 1830, 110, 1490, 740, 2100, 200, 430};
}

} // namespace

TEST(label_deals, give_each_row_to_one_client) {
  const auto labels = unequal();
  const std::vector<std::optional<partitioner>> schemes{
    std::nullopt, labels_partition{4}, dirichlet_partition{0.3}};
  for (const auto& scheme : schemes)
    for (const auto& [part, clients] :
         dealt(labels, {.clients = 12, .scheme = scheme, .seed = 3})) {
      ASSERT_EQ(clients.size(), 12u);
      row_list all;
      for (const auto& rows : clients) {
        EXPECT_TRUE(std::ranges::is_sorted(rows));
        all.insert(all.end(), rows.begin(), rows.end());
      }
      std::ranges::sort(all);
      row_list expected(labels.at(part).size());
      std::iota(expected.begin(), expected.end(), 0u);
      EXPECT_EQ(all, expected) << name_of(part);
    }
}

TEST(label_deals, test_with_the_labels_that_a_client_learns) {
  const auto labels = unequal();
  const auto& train = labels.at(text_part::train);
  const auto all =
    dealt(labels, {.clients = 12, .scheme = labels_partition{4}, .seed = 3});
  const auto learned = held(train, all.at(text_part::train));
  for (const auto& own : learned)
    EXPECT_EQ(own.size(), 4u);
  EXPECT_EQ(held(labels.at(text_part::test), all.at(text_part::test)), learned);
  EXPECT_EQ(
    held(labels.at(text_part::validation), all.at(text_part::validation)),
    learned);
}

TEST(label_deals, test_with_as_much_of_a_label_as_a_client_learns) {
  const auto labels = unequal();
  const std::vector<partitioner> schemes{labels_partition{4},
                                         dirichlet_partition{0.3}};
  for (const auto& scheme : schemes) {
    const auto all =
      dealt(labels, {.clients = 12, .scheme = scheme, .seed = 3});
    const auto count = [&](text_part part, std::size_t k, std::uint32_t label) {
      return std::ranges::count_if(all.at(part)[k], [&](std::uint32_t row) {
        return labels.at(part)[row] == label;
      });
    };
    // Each other part is a half or a quarter as large.
    for (std::size_t k = 0; k < 12; ++k)
      for (std::uint32_t label = 0; label < 10; ++label) {
        const auto learned =
          static_cast<double>(count(text_part::train, k, label));
        EXPECT_NEAR(count(text_part::test, k, label), learned / 2, 1) << k;
        EXPECT_NEAR(count(text_part::validation, k, label), learned / 4, 1)
          << k;
      }
  }
}

TEST(label_deals, test_with_all_labels_where_tests_are_even) {
  // Of two labels a client learns one, and 600 of its tests are half of each.
  const parts labels{{text_part::train, labels_of({400, 400})},
                     {text_part::validation, labels_of({80, 80})},
                     {text_part::test, labels_of({1200, 1200})}};
  const std::vector<std::optional<partitioner>> schemes{std::nullopt,
                                                        labels_partition{1}};
  for (const auto& scheme : schemes) {
    label_deal how{
      .clients = 4, .scheme = scheme, .sorted_fraction = 1, .seed = 3};
    auto skewed = dealt(labels, how);
    how.even_tests = true;
    auto even = dealt(labels, how);
    for (std::size_t k = 0; k < 4; ++k) {
      const auto& tests = even.at(text_part::test)[k];
      EXPECT_EQ(tests.size(), 600u);
      EXPECT_NEAR(
        std::ranges::count_if(tests, [](std::uint32_t x) { return x < 1200; }),
        300, 50);
    }
    for (const auto& own :
         held(labels.at(text_part::test), skewed.at(text_part::test)))
      EXPECT_EQ(own.size(), 1u);
    // The others are dealt as they were.
    skewed.erase(text_part::test);
    even.erase(text_part::test);
    EXPECT_EQ(even, skewed);
  }
}

TEST(label_deals, of_clients_who_are_held_out_have_labels_that_others_learn) {
  const auto train = labels_of(sections());
  const parts labels{{text_part::train, train}};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto learned = held(
      train, dealt(labels,
                   {.clients = 24, .scheme = labels_partition{4}, .seed = seed})
               .at(text_part::train));
    EXPECT_EQ(union_of(std::span{learned}.first(20)).size(), 18u) << seed;
    EXPECT_EQ(union_of(std::span{learned}.first(4)).size(), 16u) << seed;
  }
  // Sorted, the last clients have the last labels, and nobody else has them.
  const auto learned =
    held(train, dealt(labels, {.clients = 24, .sorted_fraction = 1, .seed = 1})
                  .at(text_part::train));
  const auto known = union_of(std::span{learned}.first(20));
  EXPECT_EQ(*known.rbegin(), 13u);
  EXPECT_THAT(union_of(std::span{learned}.last(4)),
              ElementsAre(13, 14, 15, 16, 17));
}

TEST(label_deals, share_out_a_label_that_nobody_learns) {
  const parts labels{{text_part::train, labels_of({8, 8, 0})},
                     {text_part::test, labels_of({0, 0, 8})}};
  const auto all =
    dealt(labels, {.clients = 4, .scheme = labels_partition{1}, .seed = 1});
  for (const auto& rows : all.at(text_part::test))
    EXPECT_EQ(rows.size(), 2u);
}

TEST(label_deals, follow_from_the_seed) {
  const auto labels = unequal();
  const label_deal how{.clients = 12, .scheme = labels_partition{4}, .seed = 3};
  auto other = how;
  other.seed = 4;
  EXPECT_EQ(dealt(labels, how), dealt(labels, how));
  EXPECT_NE(dealt(labels, how), dealt(labels, other));
}

TEST(label_deals, are_refused_where_there_are_too_few_labels) {
  const auto found = deal_by_label(
    unequal(), {.clients = 12, .scheme = labels_partition{11}, .seed = 3});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().context,
            "partition: labels_per_client is 11; 1 to 10 would do");
}

} // namespace troupe::models::label_deal_test
