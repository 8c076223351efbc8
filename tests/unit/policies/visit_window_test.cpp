#include "policies/visit_window.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace troupe::policies {

TEST(visit_window, agrees_with_a_set_that_forgets_nothing) {
  std::mt19937_64 random{1};
  visit_window testee;
  std::set<std::uint64_t> merged;
  for (int i = 0; i < 20'000; ++i) {
    const auto highest = merged.empty() ? 0 : *merged.rbegin();
    const auto number = 1 + random() % (highest + (i % 100 == 0 ? 200 : 3));
    const auto state = testee.of({number});
    const bool below =
      highest >= visit_window::size && number <= highest - visit_window::size;
    ASSERT_EQ(state == visit_window::state::closed, below);
    ASSERT_EQ(state == visit_window::state::merged,
              !below && merged.contains(number));
    if (state == visit_window::state::open) {
      testee.insert({number});
      merged.insert(number);
    }
  }
}

TEST(visit_window, goes_on_from_its_two_numbers) {
  visit_window testee;
  for (const std::uint64_t x : {3u, 1u, 70u, 68u})
    testee.insert({x});
  const visit_window copy{testee.highest(), testee.bits()};
  EXPECT_EQ(copy, testee);
  EXPECT_EQ(copy.highest(), visit_number{70});
  EXPECT_EQ(copy.of({68}), visit_window::state::merged);
  EXPECT_EQ(copy.of({69}), visit_window::state::open);
  EXPECT_EQ(copy.of({6}), visit_window::state::closed);
}

TEST(visit_windows, a_client_that_was_never_merged_is_open) {
  visit_windows windows;
  windows[{1}].insert({2});
  EXPECT_EQ(state_of(windows, {{1}, {2}}), visit_window::state::merged);
  EXPECT_EQ(state_of(windows, {{2}, {2}}), visit_window::state::open);
}

TEST(visit_windows, count_a_visit_once_however_many_lines_tell_of_it) {
  visit_windows testee;
  EXPECT_TRUE(insert_once(testee, {{1}, {2}}));
  EXPECT_FALSE(insert_once(testee, {{1}, {2}}));
  EXPECT_TRUE(insert_once(testee, {{1}, {1}})); // Another line was slower.
  EXPECT_TRUE(insert_once(testee, {{2}, {2}}));
}

TEST(visit_windows, of_several_lines_say_what_is_merged_into_any) {
  visit_windows one, other;
  one[{1}].insert({2});
  other[{1}].insert({70});
  other[{1}].insert({68});
  other[{3}].insert({1});
  insert_all(one, other);
  for (const auto number : {68u, 70u})
    EXPECT_EQ(state_of(one, {{1}, {number}}), visit_window::state::merged);
  EXPECT_EQ(state_of(one, {{1}, {69}}), visit_window::state::open);
  EXPECT_EQ(one.at({1}).highest(), visit_number{70});
  EXPECT_FALSE(one.contains({2}));
  EXPECT_EQ(one.at({3}).highest(), visit_number{1});
}

} // namespace troupe::policies
