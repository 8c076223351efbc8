#include "actors/transport/naps.hpp"

#include <gtest/gtest.h>

namespace troupe::transport {
namespace {

using namespace std::chrono_literals;

TEST(naps, last_as_long_as_a_rest_where_all_is_sent) {
  EXPECT_EQ(nap_in(5ms, {}), 5ms);
}

TEST(naps, are_none_while_something_can_be_sent) {
  EXPECT_FALSE(may_sleep({.is_due = true}));
  EXPECT_EQ(nap_in(5ms, {.is_due = true}), 0ms);
}

// What has no room stays due, and who looked again at once would do nothing but
// look until the rest is over.
TEST(naps, are_short_where_a_link_is_blocked) {
  EXPECT_TRUE(may_sleep({.is_blocked = true, .is_due = true}));
  EXPECT_EQ(nap_in(5ms, {.is_blocked = true, .is_due = true}), 2ms);
  EXPECT_EQ(nap_in(200us, {.is_blocked = true, .is_due = true}), 200us);
}

} // namespace
} // namespace troupe::transport
