// Who comes how often where clients have roles.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "policies/catalogue.hpp"
#include "policies/invitations.hpp"

namespace troupe::policies::roles_test {

namespace {

constexpr int windows = 1000;

std::vector<candidate> roster(std::uint64_t first, std::uint64_t last) {
  std::vector<candidate> all;
  for (auto k = first; k <= last; ++k)
    all.push_back({.client = {k}, .examples = 10});
  return all;
}

/// Those of a hundred clients, all at rest, in windows of ten.
std::vector<choice> invited(const recipe& method, std::uint64_t count,
                            const std::vector<candidate>& from) {
  invitations turns{{.seed = 3,
                     .window_size = 10,
                     .how = uniform_selection{},
                     .roles = method.roles}};
  std::vector<choice> all;
  for (std::uint64_t i = 0; i < count; ++i)
    if (const auto x = turns.next([](client_id) { return false; }, from))
      all.push_back(*x);
  return all;
}

/// Ten experts, each with an anchor, of whom five come at a time.
recipe ten_anchors() {
  const auto* method = find_recipe("ddome");
  EXPECT_NE(method, nullptr);
  const auto x =
    with_options(method ? *method : recipe{},
                 {{"experts", 10}, {"anchors", 10}, {"anchors_per_round", 5}});
  EXPECT_TRUE(x) << x.error().context;
  return x ? *x : recipe{};
}

/// Within four deviations of as often as a place in each window says.
void expect_often(std::uint64_t found, double chance, std::uint64_t client) {
  EXPECT_NEAR(static_cast<double>(found), windows * chance,
              4 * std::sqrt(windows * chance * (1 - chance)))
    << "client " << client;
}

} // namespace

// A thousand rounds, ten anchors, five of them and five others in each.
TEST(roles, are_invited_as_often_as_said) {
  const auto method = ten_anchors();
  ASSERT_EQ(method.roles.size(), 2u);
  std::map<std::uint64_t, std::uint64_t> times;
  std::map<std::uint64_t, int> anchors;
  for (const auto& x : invited(method, 10'000, roster(1, 100))) {
    ++times[x.client.value];
    anchors[x.window.value] += x.role == 0 ? 1 : 0;
    EXPECT_EQ(x.role, x.client.value <= 10 ? 0u : 1u);
  }
  ASSERT_EQ(anchors.size(), 1000u);
  for (const auto& [window, n] : anchors)
    ASSERT_EQ(n, 5) << window;
  for (std::uint64_t k = 1; k <= 100; ++k)
    expect_often(times[k], k <= 10 ? 0.5 : 5 / 90.0, k);
  for (std::uint64_t k = 1; k <= 10; ++k)
    EXPECT_EQ(place_in_role({k}, method.roles), k - 1)
      << "its expert, for ever";
}

TEST(roles, of_a_baseline_are_invited_with_those_that_it_is_compared_with) {
  const auto often = with_often(*find_recipe("fedavg"), 10, 5);
  ASSERT_TRUE(often) << often.error().context;
  EXPECT_EQ(invited(*often, 500, roster(1, 100)),
            invited(ten_anchors(), 500, roster(1, 100)))
    << "two things change at once";
}

// Who is not here leaves its place to the others.
TEST(roles, with_fewer_members_than_their_quota_leave_places_to_others) {
  auto here = roster(2, 2);
  for (const auto& x : roster(10, 100))
    here.push_back(x);
  std::map<std::uint64_t, std::vector<std::uint32_t>> found;
  for (const auto& x : invited(ten_anchors(), 100, here))
    found[x.window.value].push_back(x.role);
  ASSERT_EQ(found.size(), 10u);
  for (const auto& [window, of] : found)
    EXPECT_EQ(of, (std::vector<std::uint32_t>{0, 0, 1, 1, 1, 1, 1, 1, 1, 1}))
      << window;
}

} // namespace troupe::policies::roles_test
