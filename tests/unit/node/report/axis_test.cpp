// What is written beside an axis.

#include "node/report/axis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "node/report/markup.hpp"

namespace troupe::test::axis_test {

namespace {

using ::testing::ElementsAre;

std::vector<std::string> labels_of(const node::axis& x) {
  std::vector<std::string> all;
  for (const auto& tick : x.ticks())
    all.push_back(tick.label);
  return all;
}

} // namespace

TEST(axis, has_labels_as_short_as_numbers_are_elsewhere) {
  EXPECT_THAT(labels_of(node::axis::linear(0, 1)),
              ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1"));
  EXPECT_THAT(labels_of(node::axis::linear(0, 4e6)),
              ElementsAre("0", "1e+06", "2e+06", "3e+06", "4e+06"));
}

TEST(axis, has_as_many_digits_as_tell_neighbours_apart) {
  EXPECT_THAT(
    labels_of(node::axis::linear(345.2, 345.25)),
    ElementsAre("345.20", "345.21", "345.22", "345.23", "345.24", "345.25"));
  EXPECT_THAT(labels_of(node::axis::linear(-1234, -1233)),
              ElementsAre("-1,234.0", "-1,233.8", "-1,233.6", "-1,233.4",
                          "-1,233.2", "-1,233.0"));
}

// Whatever their size: a run's losses may be anything.
TEST(axis, has_no_label_twice) {
  for (const double from : {1e-9, 0.001, 0.5, 99.97, 5000.0, 2e6, 3e9, 1e15})
    for (const double share : {1e-1, 1e-4, 1e-7, 1e-10}) {
      const auto to = from * (1 + share);
      for (const auto& x :
           {node::axis::linear(from, to), node::axis::exact(from, to)}) {
        const auto all = labels_of(x);
        EXPECT_EQ((std::set<std::string>{all.begin(), all.end()}.size()),
                  all.size())
          << from << " to " << to << ": " << all.front();
      }
    }
}

TEST(markup, separates_thousands_before_the_point) {
  EXPECT_EQ(node::fixed(-1234567.125, 2), "-1,234,567.12");
  EXPECT_EQ(node::fixed(999.96, 1), "1,000.0");
  EXPECT_EQ(node::fixed(0.5, 3), "0.500");
  EXPECT_EQ(node::count(12400), "12,400");
  EXPECT_EQ(node::scientific(1234567, 3), "1.23e+06");
}

} // namespace troupe::test::axis_test
