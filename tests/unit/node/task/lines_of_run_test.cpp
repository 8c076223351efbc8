#include "node/task/recipe_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "node/config/config.hpp"

namespace troupe::node {

TEST(recipe_of, has_a_line_for_each_client_whatever_the_option_says) {
  for (const auto* line : {"", "[options]\nlines = 3\n"}) {
    const auto text = "rounds = 1\nmethod = 'pcl'\n" + std::string{line};
    const std::vector<std::string> changes{"clients=7"};
    const auto x = parse_config({text, "a.toml"}, changes);
    ASSERT_TRUE(x) << x.error().context;
    const auto method = recipe_of(x->x);
    ASSERT_TRUE(method) << method.error().context;
    const auto lines = std::ranges::find(
      method->blocks, std::string{"model_of"}, &block_spec::name);
    ASSERT_NE(lines, method->blocks.end());
    EXPECT_EQ(lines->count, 7u);
  }
}

} // namespace troupe::node
