#include "core/ids.hpp"

#include <gtest/gtest.h>

#include <concepts>

namespace troupe {

template <class A, class B>
constexpr bool comparable = requires(A a, B b) {
  a == b;
};

// What an id cannot be mistaken for does not compile.
static_assert(!std::convertible_to<client_id, block_id>);
static_assert(!std::convertible_to<std::uint64_t, client_id>);
static_assert(!std::convertible_to<client_id, std::uint64_t>);
static_assert(!comparable<client_id, block_id>);
static_assert(comparable<client_id, client_id>);

TEST(ids, visits_are_in_the_order_of_client_and_then_number) {
  EXPECT_LT((visit_id{{1}, {9}}), (visit_id{{2}, {1}}));
  EXPECT_LT((visit_id{{1}, {1}}), (visit_id{{1}, {2}}));
  EXPECT_EQ((visit_id{{1}, {1}}), (visit_id{{1}, {1}}));
}

TEST(ids, the_next_one_follows) {
  EXPECT_EQ(next(version{4}), version{5});
}

TEST(staleness, counts_the_versions_between) {
  EXPECT_EQ(staleness({3}, {3}), 0u);
  EXPECT_EQ(staleness({3}, {7}), 4u);
}

TEST(staleness, a_base_ahead_of_the_head_is_not_stale) {
  EXPECT_EQ(staleness({7}, {3}), 0u);
}

} // namespace troupe
