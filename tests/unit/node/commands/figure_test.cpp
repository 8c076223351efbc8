#include "node/commands/figure.hpp"

#include <sstream>

#include <gtest/gtest.h>

namespace troupe::node {
namespace {

figure named(const char* name, std::function<result<sample>()> once) {
  return {.name = name,
          .unit = "ms",
          .compared_with = "another",
          .bar = 2,
          .repetitions = 3,
          .once = std::move(once)};
}

TEST(figure, that_gives_none_leaves_the_others_as_they_are) {
  int tried = 0;
  std::vector<figure> all{
    named("broken",
          [&]() -> result<sample> {
            ++tried;
            return fail(errc::invalid_config, "its server did not begin");
          }),
    named("elsewhere",
          []() -> result<sample> {
            return fail(errc::unsupported, "too few files may be open");
          }),
    named("sound", []() -> result<sample> {
      return sample{3, 2};
    })};
  std::ostringstream progress;
  measure_all(all, progress);
  EXPECT_EQ(tried, 1) << "what fails once is not tried again";
  EXPECT_FALSE(all[0].holds());
  EXPECT_FALSE(all[0].is_left_out());
  EXPECT_NE(to_json(all[0]).dump().find("its server did not begin"),
            std::string::npos);
  EXPECT_TRUE(all[1].holds()) << "it is this machine's, not a miss";
  EXPECT_TRUE(all[1].is_left_out());
  EXPECT_NE(to_json(all[1]).dump().find("\"left_out\""), std::string::npos);
  EXPECT_TRUE(all[2].holds());
  EXPECT_EQ(all[2].ratios.size(), 3U);
}

} // namespace
} // namespace troupe::node
