#include "node/watch/last_answers.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace troupe::node {

namespace {

constexpr line_id line{1};

status_desk::draft nobody() {
  return std::make_shared<actors::status_draft>();
}

/// The line has merged so much.
actors::line_status merged(std::uint64_t bytes) {
  actors::line_status x;
  x.merged_bytes = bytes;
  return x;
}

} // namespace

TEST(last_answers, never_go_back) {
  last_answers testee;
  const auto whole = nobody();
  whole->add(actors::course_status{});
  whole->add(line, merged(5));
  EXPECT_TRUE(testee.look_at(whole));
  EXPECT_EQ(testee.all().lines.at(line).merged_bytes, 5u);
  const auto in_part = nobody();
  in_part->add(line, merged(7));
  EXPECT_FALSE(testee.look_at(in_part)) << "the director says nothing";
  EXPECT_EQ(testee.all().lines.at(line).merged_bytes, 7u);
  EXPECT_FALSE(testee.look_at(nobody()));
  EXPECT_EQ(testee.all().lines.at(line).merged_bytes, 7u);
  EXPECT_TRUE(testee.all().course);
}

TEST(last_answers, are_those_of_who_is_slow_too) {
  last_answers testee;
  EXPECT_FALSE(testee.look_at(nullptr));
  const auto one = nobody();
  const auto two = nobody();
  EXPECT_FALSE(testee.look_at(one));
  one->add(actors::course_status{});
  one->add(line, merged(5));
  EXPECT_TRUE(testee.look_at(two));
  EXPECT_EQ(testee.all().lines.at(line).merged_bytes, 5u);
  two->add(line, merged(6));
  EXPECT_FALSE(testee.look_at(two));
  EXPECT_EQ(testee.all().lines.at(line).merged_bytes, 6u);
  two->add(actors::course_status{});
  EXPECT_TRUE(testee.look_at(two));
  EXPECT_FALSE(testee.look_at(two)) << "it is known";
}

} // namespace troupe::node
