#include "actors/transport/naps.hpp"

#include <gtest/gtest.h>

namespace troupe::transport {
namespace {

using namespace std::chrono_literals;

TEST(naps, last_as_long_as_a_rest_where_all_is_sent) {
  EXPECT_EQ(nap_in(5ms, {}), 5ms);
}

TEST(naps, are_none_while_something_can_be_sent) {
  EXPECT_FALSE(may_sleep({.due = 1}));
  EXPECT_EQ(nap_in(5ms, {.due = 1}), 0ms);
}

// What has no room stays due, and who looked again at once would do nothing but
// look until the rest is over.
TEST(naps, are_short_where_a_link_is_blocked) {
  EXPECT_TRUE(may_sleep({.blocked = 1, .due = 1}));
  EXPECT_EQ(nap_in(5ms, {.blocked = 1, .due = 1}), 2ms);
  EXPECT_EQ(nap_in(200us, {.blocked = 2, .due = 2}), 200us);
}

// Each turn sends half a megabyte of what they have.
TEST(naps, are_none_for_others_beside_a_link_that_is_blocked) {
  EXPECT_FALSE(may_sleep({.blocked = 1, .due = 2}));
  EXPECT_EQ(nap_in(5ms, {.blocked = 1, .due = 2}), 0ms);
}

} // namespace
} // namespace troupe::transport
