#include "policies/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace troupe::policies::selection_test {

namespace {

std::vector<candidate> roster(std::uint64_t size) {
  std::vector<candidate> result;
  for (std::uint64_t i = 1; i <= size; ++i)
    result.push_back({.client = {i}, .examples = 10 * i});
  return result;
}

/// Half of the clients have scores, which grow with the id.
std::vector<candidate> scored_roster(std::uint64_t size) {
  auto result = roster(size);
  for (auto& x : result)
    if (x.client.value % 2 == 0) {
      x.scored = true;
      x.utility = x.loss = static_cast<double>(x.client.value);
    }
  return result;
}

std::map<client_id, int> count_in_windows(const selection& how,
                                          std::span<const candidate> candidates,
                                          std::size_t size,
                                          std::uint64_t windows) {
  std::map<client_id, int> result;
  for (std::uint64_t w = 1; w <= windows; ++w)
    for (const auto x : draw_window(how, 7, {w}, candidates, size))
      ++result[x];
  return result;
}

} // namespace

class selection_test : public testing::TestWithParam<selection> {};

TEST_P(selection_test, a_window_has_the_size_asked_for_and_nobody_twice) {
  for (const std::uint64_t n : {0u, 1u, 2u, 9u, 30u})
    for (const std::size_t count : {0u, 1u, 4u, 9u, 50u})
      for (std::uint64_t w = 1; w < 40; ++w) {
        const auto from = scored_roster(n);
        const auto drawn = draw_window(GetParam(), 3, {w}, from, count);
        const std::set<client_id> once(drawn.begin(), drawn.end());
        ASSERT_EQ(drawn.size(), std::min<std::size_t>(count, n));
        ASSERT_EQ(once.size(), drawn.size());
        for (const auto x : drawn)
          ASSERT_TRUE(x.value >= 1 && x.value <= n);
      }
}

TEST_P(selection_test, is_a_function_of_its_arguments) {
  const auto from = scored_roster(20);
  for (std::uint64_t w = 1; w < 20; ++w)
    ASSERT_EQ(draw_window(GetParam(), 3, {w}, from, 5),
              draw_window(GetParam(), 3, {w}, from, 5));
}

TEST_P(selection_test, everybody_has_a_turn_before_there_are_scores) {
  EXPECT_EQ(count_in_windows(GetParam(), roster(10), 3, 200).size(), 10u);
}

TEST_P(selection_test, scores_that_are_no_numbers_do_no_harm) {
  auto from = scored_roster(10);
  from[1].utility = from[1].loss = NAN;
  from[3].utility = from[3].loss = HUGE_VAL;
  from[5].utility = from[5].loss = -1;
  EXPECT_EQ(draw_window(GetParam(), 3, {1}, from, 10).size(), 10u);
}

INSTANTIATE_TEST_SUITE_P(
  all, selection_test,
  testing::Values(uniform_selection{}, round_robin_selection{},
                  by_size_selection{}, power_of_choice_selection{},
                  power_of_choice_selection{.considered = 6}, oort_selection{},
                  oort_selection{.exploration = 0, .exploration_min = 0},
                  oort_selection{.cut_off = 5, .times_max = 1},
                  least_chosen_selection{}));

TEST(uniform_selection, chooses_everybody_about_equally_often) {
  // 4,000 windows of 3 of 10: 1,200 each, with a standard deviation of 29.
  for (const auto& [client, times] :
       count_in_windows(uniform_selection{}, roster(10), 3, 4000))
    EXPECT_NEAR(times, 1200, 150) << client.value;
}

TEST(uniform_selection, another_seed_or_window_is_another_draw) {
  const auto from = roster(50);
  const auto drawn = draw_window(uniform_selection{}, 1, {1}, from, 10);
  EXPECT_NE(drawn, draw_window(uniform_selection{}, 2, {1}, from, 10));
  EXPECT_NE(drawn, draw_window(uniform_selection{}, 1, {2}, from, 10));
}

TEST(round_robin_selection, goes_around_in_the_order_of_ids) {
  const auto from = roster(5);
  const auto window = [&](std::uint64_t w) {
    return draw_window(round_robin_selection{}, 1, {w}, from, 3);
  };
  EXPECT_EQ(window(1), (std::vector<client_id>{{1}, {2}, {3}}));
  EXPECT_EQ(window(2), (std::vector<client_id>{{4}, {5}, {1}}));
  EXPECT_EQ(window(3), (std::vector<client_id>{{2}, {3}, {4}}));
}

TEST(by_size_selection, chooses_in_proportion_to_examples) {
  // Sizes 10, 20, 30, 40: one of four is client i with probability i / 10.
  const auto times =
    count_in_windows(by_size_selection{}, roster(4), 1, 10'000);
  for (const auto& [client, n] : times)
    EXPECT_NEAR(n, 1000.0 * static_cast<double>(client.value), 200)
      << client.value;
}

TEST(by_size_selection, draws_the_second_place_from_the_rest) {
  // By hand, for sizes 1, 1, 2 and two places: client 3 is missing if 1 and 2
  // are drawn, which is 2 * 1/4 * 1/3 = 1/6.
  const std::vector<candidate> from{{.client = {1}, .examples = 1},
                                    {.client = {2}, .examples = 1},
                                    {.client = {3}, .examples = 2}};
  const auto times = count_in_windows(by_size_selection{}, from, 2, 12'000);
  EXPECT_NEAR(times.at({3}), 10'000, 200);
}

TEST(by_size_selection, a_client_without_examples_comes_last) {
  auto from = roster(5);
  from[2].examples = 0;
  EXPECT_EQ(count_in_windows(by_size_selection{}, from, 4, 100).count({3}), 0u);
  EXPECT_EQ(draw_window(by_size_selection{}, 1, {1}, from, 5).back(),
            client_id{3});
}

TEST(power_of_choice_selection, keeps_the_highest_losses_of_those_considered) {
  auto from = scored_roster(10);
  for (auto& x : from)
    x.scored = true;
  const power_of_choice_selection all{.considered = 10};
  EXPECT_EQ(draw_window(all, 1, {1}, from, 3),
            (std::vector<client_id>{{10}, {8}, {6}}));
  // Who has no score yet comes before any loss.
  from[0].scored = false;
  EXPECT_EQ(draw_window(all, 1, {1}, from, 2),
            (std::vector<client_id>{{1}, {10}}));
}

TEST(oort_selection, prefers_high_utility_and_goes_on_exploring) {
  const auto from = scored_roster(20);
  const oort_selection how{.exploration = 0.5, .exploration_decay = 1};
  int explored = 0;
  double chosen_utility = 0;
  for (std::uint64_t w = 1; w <= 100; ++w)
    for (const auto x : draw_window(how, 1, {w}, from, 4)) {
      const auto& of = from[x.value - 1];
      explored += of.scored ? 0 : 1;
      chosen_utility += of.utility;
    }
  EXPECT_EQ(explored, 200);
  // 95 % of the second place is 17.1: only 18 and 20 are near the best.
  EXPECT_EQ(chosen_utility, 100 * (20 + 18));
}

TEST(oort_selection, explores_less_from_window_to_window) {
  const auto from = scored_roster(40);
  const auto fresh = [&](std::uint64_t w) {
    const auto drawn = draw_window(oort_selection{}, 1, {w}, from, 10);
    return std::count_if(drawn.begin(), drawn.end(), [&](client_id x) {
      return !from[x.value - 1].scored;
    });
  };
  EXPECT_EQ(fresh(1), 9);
  EXPECT_EQ(fresh(30), 5); // 0.9 * 0.98^29 = 0.501
  EXPECT_EQ(fresh(500), 2);
}

TEST(oort_selection, leaves_out_who_was_chosen_too_often) {
  auto from = scored_roster(6);
  from[5].times_chosen = 3;
  const auto times =
    count_in_windows(oort_selection{.times_max = 3}, from, 5, 50);
  EXPECT_EQ(times.count({6}), 0u);
}

TEST(least_chosen_selection, takes_its_turns_whoever_is_here) {
  // Client 1 is here in one of five windows, the others always.
  auto all = roster(5);
  for (std::uint64_t w = 1; w <= 500; ++w) {
    const auto here = std::span{all}.subspan(w % 5 == 0 ? 0 : 1);
    for (const auto x : draw_window(least_chosen_selection{}, 1, {w}, here, 1))
      ++all[x.value - 1].times_chosen;
  }
  for (const auto& x : all)
    EXPECT_EQ(x.times_chosen, 100u) << x.client.value;
}

TEST(least_chosen_selection, leaves_equals_to_chance) {
  for (const auto& [client, times] :
       count_in_windows(least_chosen_selection{}, roster(10), 3, 4000))
    EXPECT_NEAR(times, 1200, 150) << client.value;
}

TEST(statistical_utility, punishes_only_slow_visits) {
  EXPECT_DOUBLE_EQ(statistical_utility({.examples = 10, .loss = 2}), 20);
  EXPECT_DOUBLE_EQ(
    statistical_utility(
      {.examples = 10, .loss = 2, .seconds = 4, .seconds_preferred = 2}),
    5);
  EXPECT_DOUBLE_EQ(
    statistical_utility(
      {.examples = 10, .loss = 2, .seconds = 1, .seconds_preferred = 2}),
    20);
}

} // namespace troupe::policies::selection_test
