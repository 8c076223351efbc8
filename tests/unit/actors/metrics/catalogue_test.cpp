#include "actors/metrics/catalogue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace troupe::actors {

namespace {

std::string page() {
  std::ifstream file{TROUPE_SOURCE_DIR "/docs/metrics.md"};
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

bool is_snake_case(std::string_view x) {
  return !x.empty() && x.front() >= 'a' && x.front() <= 'z'
         && x.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_")
              == std::string_view::npos;
}

} // namespace

TEST(catalogue, is_the_table_of_the_page) {
  EXPECT_THAT(page(), testing::EndsWith(metrics_as_markdown()))
    << "docs/metrics.md is to end with:\n"
    << metrics_as_markdown();
}

TEST(catalogue, has_each_metric_once_by_a_name_that_says_what_it_is) {
  std::set<std::string_view> seen;
  for (const auto& x : all_metrics()) {
    EXPECT_TRUE(seen.insert(x.name).second) << x.name;
    EXPECT_TRUE(is_snake_case(x.name)) << x.name;
    EXPECT_TRUE(x.name.starts_with("troupe_") || x.name.starts_with("process_"))
      << x.name;
    EXPECT_EQ(x.name.ends_with("_total"), x.type == metric_type::counter)
      << x.name;
    EXPECT_TRUE(x.help.ends_with('.')) << x.name;
    EXPECT_EQ(&metric_of(x.name), &x);
  }
}

TEST(catalogue, names_no_client) {
  for (const auto& x : all_metrics())
    for (const auto& label : x.labels) {
      EXPECT_TRUE(is_snake_case(label.name)) << x.name;
      EXPECT_NE(label.name, "client") << x.name;
      EXPECT_NE(label.name, "le") << x.name;
    }
}

TEST(catalogue, has_no_histogram_of_time_with_a_line) {
  for (const auto& x : all_metrics())
    if (x.type == metric_type::histogram && x.unit == "seconds") {
      EXPECT_TRUE(std::ranges::none_of(
        x.labels, [](const auto& y) { return y.name == "line"; }))
        << x.name;
    }
}

// Or no alert can say that something is at its bound.
TEST(catalogue, has_each_limit_beside_what_it_limits) {
  constexpr std::string_view ending = "_limit";
  for (const auto& x : all_metrics()) {
    if (!x.name.ends_with(ending))
      continue;
    const auto of = x.name.substr(0, x.name.size() - ending.size());
    EXPECT_EQ(metric_of(of).home, x.home) << x.name;
    EXPECT_EQ(metric_of(of).unit, x.unit) << x.name;
    EXPECT_EQ(metric_of(of).labels.size(), x.labels.size()) << x.name;
  }
}

} // namespace troupe::actors
