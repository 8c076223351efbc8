#include "core/duration_counts.hpp"

#include <gtest/gtest.h>

namespace troupe {

TEST(duration_counts, have_bounds_that_double_from_a_millisecond) {
  EXPECT_EQ(duration_counts::bound(0), 0.001);
  EXPECT_EQ(duration_counts::bound(10), 1.024);
  EXPECT_EQ(duration_counts::bound(duration_counts::bounds - 1), 1048.576);
}

TEST(duration_counts, count_what_is_at_a_bound_with_what_is_below) {
  duration_counts x;
  x.add(0);
  x.add(0.001);
  x.add(0.0011);
  x.add(1.024);
  x.add(2000);
  EXPECT_EQ(x.count, 5u);
  EXPECT_DOUBLE_EQ(x.seconds, 2001.0261);
  EXPECT_EQ(x.buckets[0], 2u);
  EXPECT_EQ(x.buckets[1], 1u);
  EXPECT_EQ(x.buckets[10], 1u);
  EXPECT_EQ(x.buckets.back(), 1u);
}

TEST(duration_counts, of_two_are_what_one_would_have_counted) {
  duration_counts one;
  duration_counts other;
  duration_counts all;
  for (const double x : {0.5, 3.0}) {
    one.add(x);
    all.add(x);
  }
  for (const double x : {0.25, 3.5}) {
    other.add(x);
    all.add(x);
  }
  one.add(other);
  EXPECT_EQ(one.count, all.count);
  EXPECT_EQ(one.seconds, all.seconds);
  EXPECT_EQ(one.buckets, all.buckets);
}

} // namespace troupe
