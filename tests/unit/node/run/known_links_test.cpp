#include <gtest/gtest.h>

#include "node/run/serving.hpp"

namespace troupe::node {

TEST(known_links, are_forgotten_with_the_links_themselves) {
  known_links some;
  for (std::uint64_t link = 1; link <= 1000; ++link) {
    // The first stays, and of the others the last ten.
    some.add(link, [link] {
      std::vector<std::uint64_t> all{1};
      for (auto x = link > 10 ? link - 9 : 2; x <= link; ++x)
        all.push_back(x);
      return all;
    });
    ASSERT_LE(some.size(), 23U);
    ASSERT_TRUE(some.contains(1));
    ASSERT_TRUE(some.contains(link));
  }
  EXPECT_FALSE(some.contains(500));
}

} // namespace troupe::node
