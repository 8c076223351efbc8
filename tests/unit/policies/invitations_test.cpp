#include "policies/invitations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/random.hpp"

namespace troupe::policies::invitations_test {

namespace {

std::vector<candidate> roster(std::initializer_list<std::uint64_t> clients) {
  std::vector<candidate> result;
  for (const auto x : clients)
    result.push_back({.client = {x}, .examples = 10});
  return result;
}

std::vector<candidate> roster(std::uint64_t size) {
  std::vector<candidate> result;
  for (std::uint64_t i = 1; i <= size; ++i)
    result.push_back({.client = {i}, .examples = i});
  return result;
}

bool nobody(client_id) {
  return false;
}

bool everybody(client_id) {
  return true;
}

invitations::test only(std::set<std::uint64_t> busy) {
  return [busy](client_id x) { return busy.contains(x.value); };
}

/// The clients of the next `count` invitations.
std::vector<std::uint64_t> take(invitations& x, std::size_t count,
                                const invitations::test& busy,
                                std::span<const candidate> from) {
  std::vector<std::uint64_t> result;
  for (std::size_t i = 0; i < count; ++i)
    if (const auto found = x.next(busy, from))
      result.push_back(found->client.value);
  return result;
}

invitations round_robin(std::uint32_t window_size) {
  return invitations{
    {.seed = 1, .window_size = window_size, .how = round_robin_selection{}}};
}

using numbers = std::vector<std::uint64_t>;

} // namespace

TEST(invitations, call_a_client_beside_all_windows) {
  auto testee = round_robin(2);
  const auto clients = roster(3);
  EXPECT_EQ(take(testee, 1, nobody, clients), numbers{1});
  const auto called = testee.call({3}, 5);
  EXPECT_EQ(called.client, client_id{3});
  EXPECT_EQ(called.role, 5u);
  EXPECT_EQ(called.index, 2u);
  EXPECT_EQ(called.seed, derive_seed(1, "visit", 2));
  EXPECT_EQ(take(testee, 2, nobody, clients), (numbers{2, 3}));
  EXPECT_EQ(testee.made(), 4u);
}

class invitations_test : public testing::TestWithParam<selection> {
protected:
  invitations make(std::uint32_t window_size,
                   invitation_state from = {}) const {
    return invitations{
      {.seed = 5, .window_size = window_size, .how = GetParam()},
      std::move(from)};
  }
};

TEST_P(invitations_test, no_window_invites_a_client_twice) {
  const auto from = roster(11);
  auto testee = make(4);
  std::map<round_number, std::set<client_id>> windows;
  for (int i = 0; i < 400; ++i) {
    const auto x = testee.next(nobody, from);
    ASSERT_TRUE(x);
    ASSERT_TRUE(windows[x->window].insert(x->client).second);
  }
  EXPECT_EQ(windows.size(), 100u);
}

TEST_P(invitations_test, seeds_follow_from_the_running_index) {
  const auto from = roster(5);
  auto testee = make(2);
  for (std::uint64_t i = 1; i < 20; ++i) {
    const auto x = testee.next(only({i % 5}), from);
    ASSERT_TRUE(x);
    EXPECT_EQ(x->index, i);
    EXPECT_EQ(x->seed, derive_seed(5, "visit", i));
  }
}

// A walk at random through visits that begin and end, and clients that come and
// go.
TEST_P(invitations_test,
       never_invites_the_busy_and_never_idles_beside_the_free) {
  random_stream random{2};
  for (const std::uint32_t window_size : {1u, 3u, 8u, 20u}) {
    auto testee = make(window_size);
    std::set<std::uint64_t> here{1, 2, 3, 4, 5, 6, 7, 8};
    std::set<std::uint64_t> busy;
    std::set<std::pair<round_number, client_id>> invited;
    std::set<std::pair<round_number, client_id>> skipped;
    for (int step = 0; step < 2000; ++step) {
      if (random.chance(0.1))
        if (const auto x = 1 + random.below(12); here.erase(x) == 0)
          here.insert(x);
      std::vector<candidate> from;
      for (const auto x : here)
        from.push_back({.client = {x},
                        .examples = x,
                        .utility = 1.0 * x,
                        .loss = 1.0 * x,
                        .scored = x % 3 != 0});
      if (random.chance(0.6)) {
        const auto found = testee.next(only(busy), from);
        const bool all =
          std::includes(busy.begin(), busy.end(), here.begin(), here.end());
        ASSERT_EQ(found.has_value(), !all);
        if (found) {
          ASSERT_TRUE(here.contains(found->client.value));
          ASSERT_TRUE(busy.insert(found->client.value).second);
          ASSERT_TRUE(invited.emplace(found->window, found->client).second);
        }
        for (const auto& [of, dropped] : testee.skips())
          ASSERT_TRUE(skipped.emplace(of.window, of.client).second);
      } else if (!busy.empty()) {
        auto ends = busy.begin();
        std::advance(ends, random.below(busy.size()));
        busy.erase(ends);
      }
      std::set<client_id> waiting;
      for (const auto& x : testee.state().waiting)
        ASSERT_TRUE(waiting.insert(x.client).second);
      ASSERT_LE(testee.state().open.size(), window_size);
    }
  }
}

// Who is told who is free, and who comes and goes, need not look at anybody.
TEST_P(invitations_test, invites_the_same_whether_it_is_told_or_looks) {
  random_stream random{7};
  auto looks = make(3);
  auto told = make(3);
  std::set<std::uint64_t> here{1, 2, 3, 4, 5, 6, 7, 8};
  std::set<std::uint64_t> busy;
  for (int step = 0; step < 5000; ++step) {
    if (random.chance(0.1)) {
      const auto x = 1 + random.below(12);
      if (here.erase(x) == 0)
        here.insert(x);
      else
        told.freed({x});
      told.roster_changed();
    }
    std::vector<candidate> from;
    for (const auto x : here)
      from.push_back({.client = {x}, .examples = x, .scored = false});
    if (random.chance(0.55)) {
      const auto wanted = looks.next(only(busy), from);
      std::size_t free = 0;
      for (const auto x : here)
        free += !busy.contains(x);
      const auto found =
        told.next({.busy = only(busy),
                   .here = [&](client_id x) { return here.contains(x.value); },
                   .candidates = from,
                   .free = free});
      ASSERT_EQ(found, wanted) << step;
      ASSERT_EQ(told.skips(), looks.skips());
      ASSERT_EQ(told.state(), looks.state());
      if (found)
        busy.insert(found->client.value);
    } else if (!busy.empty()) {
      auto ends = busy.begin();
      std::advance(ends, random.below(busy.size()));
      told.freed({*ends});
      busy.erase(ends);
    }
  }
  EXPECT_GT(told.made(), 1000u);
}

TEST_P(invitations_test, goes_on_from_its_state) {
  const auto from = roster(9);
  auto testee = make(4);
  for (std::uint64_t i = 0; i < 50; ++i) {
    const auto busy = only({1 + i % 9, 1 + i * 7 % 9});
    auto restored = make(4, testee.state());
    const auto x = testee.next(busy, from);
    ASSERT_EQ(restored.next(busy, from), x);
    ASSERT_EQ(restored.state(), testee.state());
  }
}

TEST_P(invitations_test, returns_nothing_and_loses_nothing_when_all_are_busy) {
  const auto from = roster(6);
  auto testee = make(4);
  std::set<client_id> window;
  window.insert(testee.next(nobody, from)->client);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(testee.next(everybody, from), std::nullopt);
  EXPECT_EQ(testee.state().window, round_number{1});
  for (int i = 0; i < 3; ++i) {
    const auto x = testee.next(nobody, from);
    EXPECT_EQ(x->window, round_number{1});
    window.insert(x->client);
  }
  EXPECT_EQ(window.size(), 4u);
  EXPECT_EQ(testee.state().invitations, 4u);
}

INSTANTIATE_TEST_SUITE_P(
  all, invitations_test,
  testing::Values(uniform_selection{}, round_robin_selection{},
                  by_size_selection{}, power_of_choice_selection{},
                  oort_selection{},
                  oort_selection{.exploration = 0, .exploration_min = 0}));

TEST(invitations, round_robin_invites_everybody_equally_often) {
  const auto from = roster(7);
  auto testee = round_robin(3);
  std::map<std::uint64_t, int> times;
  for (int i = 1; i <= 200; ++i) {
    ++times[testee.next(nobody, from)->client.value];
    const auto [least, most] = std::minmax_element(
      times.begin(), times.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
    ASSERT_LE(most->second - (times.size() < 7 ? 0 : least->second), 1);
  }
}

TEST(invitations, a_skipped_client_is_invited_first_when_it_is_free) {
  const auto from = roster(6);
  auto testee = round_robin(3);
  EXPECT_EQ(take(testee, 2, only({1}), from), (numbers{2, 3}));
  EXPECT_EQ(testee.state().waiting,
            (std::vector<place>{{.client = {1}, .window = {1}, .role = 0}}));
  EXPECT_EQ(take(testee, 1, only({1}), from), (numbers{4}));
  const auto late = testee.next(nobody, from);
  EXPECT_EQ(late->client, client_id{1});
  EXPECT_EQ(late->window, round_number{1});
  EXPECT_EQ(take(testee, 2, nobody, from), (numbers{5, 6}));
}

TEST(invitations, a_client_waits_for_one_place_only) {
  const auto from = roster(2);
  auto testee = round_robin(2);
  EXPECT_EQ(take(testee, 1, only({1}), from), (numbers{2}));
  EXPECT_EQ(testee.skips(),
            (std::vector<skip>{{.of = {{1}, {1}, 0}, .dropped = false}}));
  EXPECT_EQ(take(testee, 1, only({1}), from), (numbers{2}));
  EXPECT_EQ(testee.skips(),
            (std::vector<skip>{{.of = {{1}, {2}, 0}, .dropped = true}}));
  EXPECT_EQ(take(testee, 3, nobody, from), (numbers{1, 1, 2}));
  EXPECT_TRUE(testee.skips().empty());
}

TEST(invitations,
     who_left_loses_its_places_and_who_came_is_in_the_next_window) {
  auto testee = round_robin(4);
  EXPECT_EQ(take(testee, 1, only({1}), roster({1, 2, 3, 4})), (numbers{2}));
  // Client 1 waits and 3 stands in the open window; both leave, 9 joins.
  EXPECT_EQ(take(testee, 1, nobody, roster({2, 4, 9})), (numbers{4}));
  EXPECT_TRUE(testee.state().waiting.empty());
  EXPECT_EQ(take(testee, 3, nobody, roster({2, 4, 9})), (numbers{2, 4, 9}));
}

TEST(invitations, nobody_is_invited_to_an_empty_house) {
  auto testee = round_robin(4);
  EXPECT_EQ(testee.next(nobody, {}), std::nullopt);
  EXPECT_EQ(testee.state().window, round_number{0});
}

TEST(invitations, a_window_draws_the_quota_of_each_role) {
  invitations testee{{.seed = 1,
                      .window_size = 5,
                      .how = uniform_selection{},
                      .roles = {{.name = "anchor", .quota = 2, .members = 4},
                                {.name = "common"}}}};
  const auto from = roster(20);
  std::map<std::uint64_t, int> anchors;
  for (int i = 0; i < 100; ++i) {
    const auto x = testee.next(nobody, from);
    EXPECT_EQ(x->role, x->client.value <= 4 ? 0u : 1u);
    anchors[x->window.value] += x->role == 0 ? 1 : 0;
  }
  EXPECT_EQ(anchors.size(), 20u);
  for (const auto& [window, n] : anchors)
    EXPECT_EQ(n, 2) << window;
}

TEST(invitations, the_last_role_fills_what_others_leave) {
  invitations testee{{.seed = 1,
                      .window_size = 4,
                      .how = round_robin_selection{},
                      .roles = {{.name = "anchor", .quota = 3, .members = 4},
                                {.name = "common"}}}};
  // Of four anchors only one is here.
  EXPECT_EQ(take(testee, 4, nobody, roster({2, 5, 6, 7, 8})),
            (numbers{2, 5, 6, 7}));
}

TEST(invitations, idles_where_only_a_role_without_quota_is_free) {
  invitations testee{{.seed = 1,
                      .window_size = 2,
                      .how = uniform_selection{},
                      .roles = {{.name = "watcher", .quota = 0, .members = 1},
                                {.name = "common"}}}};
  EXPECT_EQ(testee.next(only({2, 3}), roster(3)), std::nullopt);
}

TEST(role_of, counts_members_in_the_order_of_roles) {
  const std::vector<role> roles{
    {.name = "a", .members = 2}, {.name = "rest"}, {.name = "b", .members = 1}};
  EXPECT_EQ(role_of({1}, roles), 0u);
  EXPECT_EQ(role_of({2}, roles), 0u);
  EXPECT_EQ(role_of({3}, roles), 2u);
  EXPECT_EQ(role_of({4}, roles), 1u);
  EXPECT_EQ(place_in_role({2}, roles), 1u);
  EXPECT_EQ(place_in_role({3}, roles), 0u);
  EXPECT_EQ(place_in_role({6}, roles), 2u);
  EXPECT_EQ(role_of({9}, {}), 0u);
  EXPECT_EQ(role_of({9}, std::span{roles}.first(1)), std::nullopt);
}

} // namespace troupe::policies::invitations_test
