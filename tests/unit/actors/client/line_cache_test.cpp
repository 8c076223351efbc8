#include "actors/client/line_cache.hpp"

#include <gtest/gtest.h>

namespace troupe::actors::line_cache_test {

namespace {

constexpr line_id line{3};

std::vector<messages::block_values> saying(std::vector<float> x) {
  return {{block_id{1}, share(std::move(x))}};
}

} // namespace

TEST(line_cache, has_what_was_served_last) {
  line_cache testee;
  EXPECT_FALSE(testee.find(line, 0));
  testee.put(line, {{4}, 0, saying({1, 2})});
  testee.put(line, {{5}, 0, saying({3, 4})});
  const auto found = testee.find(line, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->base, version{5});
  EXPECT_EQ(*found->blocks.front().values, (std::vector<float>{3, 4}));
  EXPECT_FALSE(testee.find({4}, 0)) << "another line";
}

TEST(line_cache, has_ranks_up_to_those_that_were_served) {
  line_cache testee;
  testee.put(line, {{4}, 2, saying({1, 2})});
  EXPECT_TRUE(testee.find(line, 1));
  EXPECT_TRUE(testee.find(line, 2));
  EXPECT_FALSE(testee.find(line, 3));
  EXPECT_FALSE(testee.find(line, 0)) << "0 is whole";
}

// Two neighbours may ask before either has it.
TEST(line_cache, keeps_once_what_is_served_twice) {
  line_cache testee;
  const auto first = testee.put(line, {{4}, 0, saying({1, 2})});
  const auto again = testee.put(line, {{4}, 0, saying({1, 2})});
  EXPECT_EQ(first.front().values, again.front().values) << "the very same ones";
}

// As a server may say that began anew. A zero is not the other zero.
TEST(line_cache, gives_what_was_served_where_it_says_something_else) {
  line_cache testee;
  testee.put(line, {{4}, 0, saying({0.f, 2})});
  auto other = saying({-0.f, 2});
  const auto given = testee.put(line, {{4}, 0, other});
  EXPECT_EQ(given.front().values, other.front().values);
  EXPECT_EQ(testee.find(line, 0)->blocks.front().values, other.front().values);
}

// It may come when another one serves already.
TEST(line_cache, keeps_nothing_that_another_server_said) {
  line_cache testee;
  testee.put(line, {{4}, 0, saying({1, 2})});
  const auto before = testee.server();
  testee.forget();
  EXPECT_FALSE(testee.find(line, 0));
  auto late = saying({3, 4});
  EXPECT_EQ(testee.put(line, {{5}, 0, late, before}).front().values,
            late.front().values)
    << "its visit has it";
  EXPECT_FALSE(testee.find(line, 0)) << "it is of another server";
  testee.put(line, {{5}, 0, saying({5, 6}), testee.server()});
  EXPECT_TRUE(testee.find(line, 0));
}

} // namespace troupe::actors::line_cache_test
