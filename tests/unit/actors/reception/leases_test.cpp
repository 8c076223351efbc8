#include <gtest/gtest.h>

#include "actors/reception/leases.hpp"

namespace troupe::actors {
namespace {

constexpr leases::owner first{1};
constexpr leases::owner second{2};

using clients = std::vector<client_id>;

TEST(leases, are_the_lowest_free_numbers_and_the_same_again) {
  leases x{6};
  EXPECT_EQ(*x.give(first, 2), (clients{{1}, {2}}));
  EXPECT_EQ(*x.give(second, 3), (clients{{3}, {4}, {5}}));
  EXPECT_EQ(*x.give(first, 2), (clients{{1}, {2}}));
  EXPECT_EQ(*x.give(first, 1), (clients{{1}}));
  EXPECT_EQ(*x.give(first, 3), (clients{{1}, {2}, {6}}));
  EXPECT_EQ(x.free(), 0U);
}

TEST(leases, beyond_what_is_free_are_refused_and_nothing_changes) {
  leases x{3};
  (void)x.give(first, 2);
  const auto refused = x.give(second, 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context, "of the run's 3 clients 1 are free");
  EXPECT_EQ(x.give(first, 4).error().context,
            "of the run's 3 clients 1 are free, and 2 are yours already");
  EXPECT_FALSE(x.give(second, 0));
  EXPECT_EQ(x.free(), 1U);
  EXPECT_EQ(x.all().size(), 1U);
}

TEST(leases, come_back_as_they_were_stored) {
  leases x{4};
  (void)x.give(first, 1);
  (void)x.give(second, 2);
  leases y{4};
  EXPECT_TRUE(y.restore(x.all()));
  EXPECT_EQ(*y.give(second, 2), (clients{{2}, {3}}));
  EXPECT_EQ(y.free(), 1U);
}

TEST(leases, of_another_run_are_not_restored) {
  leases x{3};
  EXPECT_FALSE(x.restore({{first, {{4}}}}));
  EXPECT_FALSE(x.restore({{first, {{0}}}}));
  EXPECT_FALSE(x.restore({{first, {{1}}}, {second, {{1}}}}));
  EXPECT_EQ(x.free(), 3U);
}

} // namespace
} // namespace troupe::actors
