#include "core/clock.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

namespace troupe {

TEST(clock, keeps_seconds_and_bounds_what_no_run_lasts) {
  EXPECT_EQ(from_seconds(1.5), std::chrono::milliseconds{1500});
  EXPECT_EQ(from_seconds(-1.5), std::chrono::milliseconds{-1500});
  for (const double x :
       {1e10, 1e300, std::numeric_limits<double>::infinity(), std::nan("")})
    EXPECT_EQ(from_seconds(x), forever) << x;
  EXPECT_EQ(from_seconds(-1e300), -forever);
  EXPECT_GT(forever + forever, forever); // No overflow.
}

TEST(clock, counts_what_a_thread_has_used_without_the_others) {
  constexpr std::chrono::milliseconds much{100};
  while (thread_cpu_time() < much)
    continue;
  instant of_another{};
  std::thread{[&] { of_another = thread_cpu_time(); }}.join();
  EXPECT_LT(of_another, much) << "it has only begun";
  EXPECT_GE(process_cpu_time(), much + of_another);
}

} // namespace troupe
