#include "models/methods/compass_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace troupe::models {

namespace {

using point = compass_search::point;

/// All points that are looked at.
template <class Function>
std::vector<point> looks(compass_search& x, Function of) {
  std::vector<point> all;
  while (x.goes_on()) {
    all.push_back(x.next());
    x.tell(of(x.next()));
  }
  return all;
}

double squared_distance(const point& a, const point& b) {
  return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]);
}

} // namespace

TEST(compass_search, begins_at_nothing_of_both_and_looks_along_both_axes) {
  compass_search x{6};
  const auto flat = [](const point& at) { return at == point{0, 0} ? 0. : 1.; };
  const std::vector<point> expected{{0, 0},   {0.5, 0},  {-0.5, 0},
                                    {0, 0.5}, {0, -0.5}, {0.25, 0}};
  EXPECT_EQ(looks(x, flat), expected);
  EXPECT_EQ(x.best(), (point{0, 0}));
  EXPECT_EQ(x.least(), 0);
}

TEST(compass_search, goes_where_it_is_better_and_stays_within_the_square) {
  compass_search x{60};
  const point far{3, -0.3};
  for (const auto& at :
       looks(x, [&](const point& p) { return squared_distance(p, far); }))
    EXPECT_TRUE(std::abs(at[0]) <= 1 && std::abs(at[1]) <= 1);
  EXPECT_EQ(x.best()[0], 1);
  EXPECT_NEAR(x.best()[1], -0.3, 1e-2);
}

TEST(compass_search, makes_no_more_looks_than_it_may) {
  for (const std::size_t budget : {1u, 2u, 10u}) {
    compass_search x{budget};
    EXPECT_EQ(looks(x, [](const point& p) { return p[0] + p[1]; }).size(),
              budget);
  }
}

TEST(compass_search, ends_where_a_step_says_nothing_any_more) {
  compass_search x{1'000'000};
  const auto all = looks(x, [](const point& p) {
    return squared_distance(p, {0.25, 0.5});
  });
  EXPECT_LT(all.size(), 1000u);
  EXPECT_EQ(x.best(), (point{0.25, 0.5}));
}

TEST(compass_search, takes_what_is_no_number_for_no_better) {
  compass_search x{10};
  looks(x, [](const point& p) { return p == point{0, 0} ? 5. : std::nan(""); });
  EXPECT_EQ(x.best(), (point{0, 0}));
}

} // namespace troupe::models
