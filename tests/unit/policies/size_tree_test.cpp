#include "policies/size_tree.hpp"

#include <set>

#include <gtest/gtest.h>

#include "policies/selection.hpp"

namespace troupe::policies {

namespace {

std::vector<candidate> of_sizes(const std::vector<std::uint64_t>& sizes) {
  std::vector<candidate> all;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    all.push_back({.client = {i + 1}, .examples = sizes[i]});
  return all;
}

/// The same, one after the other.
std::vector<std::size_t> drawn_by_hand(std::vector<std::uint64_t> sizes,
                                       random_stream& random,
                                       std::size_t count) {
  std::vector<std::size_t> places;
  for (count = std::min(count, sizes.size()); places.size() < count;) {
    std::uint64_t total = 0;
    for (const auto x : sizes)
      total += x;
    if (total == 0)
      break;
    auto ahead = random.below(total);
    std::size_t at = 0;
    for (; ahead >= sizes[at]; ++at)
      ahead -= sizes[at];
    places.push_back(at);
    sizes[at] = 0;
  }
  return places;
}

} // namespace

TEST(size_tree, draws_as_one_does_by_hand_and_is_as_before) {
  random_stream sizes{1};
  for (std::size_t n = 1; n <= 40; ++n) {
    std::vector<std::uint64_t> all;
    for (std::size_t i = 0; i < n; ++i)
      all.push_back(1 + sizes.below(50));
    size_tree testee{of_sizes(all)};
    random_stream one{n}, other{n};
    for (std::size_t count = 0; count <= n + 1; ++count)
      ASSERT_EQ(testee.draw(one, count), drawn_by_hand(all, other, count))
        << n << " of " << count;
  }
}

TEST(size_tree, gives_those_without_a_size_last_and_in_order) {
  size_tree testee{of_sizes({0, 3, 0, 5, 0})};
  random_stream random{1};
  const auto all = testee.draw(random, 9);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ((std::set{all[0], all[1]}), (std::set<std::size_t>{1, 3}));
  EXPECT_EQ((std::vector(all.begin() + 2, all.end())),
            (std::vector<std::size_t>{0, 2, 4}));
  size_tree nobody{of_sizes({})};
  EXPECT_TRUE(nobody.draw(random, 3).empty());
}

TEST(size_tree, stays_within_its_bounds_whatever_clients_say) {
  constexpr auto huge = ~std::uint64_t{0};
  size_tree testee{of_sizes({5, huge - 4, huge, 1})};
  random_stream random{1};
  for (int i = 0; i < 100; ++i) {
    const auto all = testee.draw(random, 4);
    EXPECT_EQ((std::set<std::size_t>(all.begin(), all.end())),
              (std::set<std::size_t>{0, 1, 2, 3}));
  }
}

} // namespace troupe::policies
