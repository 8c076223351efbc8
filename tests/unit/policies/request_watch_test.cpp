#include "policies/request_watch.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace troupe::policies {

namespace {

using kind = request_watch::alarm::kind;
using request = std::vector<std::uint32_t>;

/// Each is the next visit of the same client.
void add(request_watch& to, const request& x, int times = 1) {
  for (int i = 0; i < times; ++i)
    to.add({{1}, {to.visits() + 1}}, x);
}

} // namespace

TEST(requests, are_counted_by_first_place_and_at_all) {
  request_watch testee{{.experts = 3, .asked = 2}};
  add(testee, {2, 0});
  add(testee, {2});
  add(testee, {0, 1});
  EXPECT_EQ(testee.visits(), 3u);
  EXPECT_EQ(testee.first(), (std::vector<std::uint64_t>{1, 0, 2}));
  EXPECT_EQ(testee.asked(), (std::vector<std::uint64_t>{2, 1, 2}));
}

TEST(requests, for_nobody_or_for_who_is_not_there_do_not_count) {
  request_watch testee{{.experts = 3, .asked = 2}};
  add(testee, {});
  add(testee, {0, 3});
  EXPECT_EQ(testee.visits(), 0u);
  EXPECT_EQ(testee.asked(), (std::vector<std::uint64_t>{0, 0, 0}));
}

// After a restart of its server or its client.
TEST(requests, of_a_visit_that_is_said_again_count_once) {
  request_watch testee{{.experts = 3, .asked = 2}};
  EXPECT_TRUE(testee.add({{1}, {1}}, request{2, 0}));
  EXPECT_TRUE(testee.add({{1}, {2}}, request{2, 1}));
  EXPECT_FALSE(testee.add({{1}, {1}}, request{2, 0}));
  EXPECT_TRUE(testee.add({{2}, {1}}, request{0, 1})) << "of another client";
  EXPECT_EQ(testee.visits(), 3u) << "the first was said twice";
  EXPECT_EQ(testee.first(), (std::vector<std::uint64_t>{1, 0, 2}));
  EXPECT_EQ(testee.asked(), (std::vector<std::uint64_t>{2, 2, 2}));
}

// 45 of 50 are 90 %, and not more.
TEST(requests, says_when_one_has_all) {
  request_watch testee{{.experts = 3, .asked = 2}};
  add(testee, {1, 0}, 45);
  add(testee, {0, 1}, 4);
  EXPECT_TRUE(testee.alarms().empty()) << "there were 49 visits";
  add(testee, {2, 1});
  EXPECT_TRUE(testee.alarms().empty());
  add(testee, {1, 2}, 45); // What was before is gone but for five others.
  EXPECT_TRUE(testee.alarms().empty());
  add(testee, {1, 2});
  ASSERT_EQ(testee.alarms().size(), 1u) << "46 of 50 are more";
  EXPECT_EQ(testee.alarms().front().count, 46u);
  add(testee, {1, 2});
  const std::vector<request_watch::alarm> crowded{
    {.what = kind::crowded, .expert = 1, .count = 47}};
  EXPECT_EQ(testee.alarms(), crowded);
  EXPECT_EQ(text_of(crowded.front(), "model.1"),
            "expert 'model.1' has 47 of the last 50 first places: the gate "
            "sends nearly all to it");
  add(testee, {0, 1}, 5);
  EXPECT_TRUE(testee.alarms().empty()) << "45 of the last 50";
}

TEST(requests, says_when_nobody_asks_for_one) {
  request_watch testee{{.experts = 3, .asked = 2}};
  add(testee, {2});
  for (int i = 0; i < 99; ++i) {
    add(testee, {0, 1});
    add(testee, {1, 0});
  }
  EXPECT_TRUE(testee.alarms().empty()) << "there were 199 visits";
  add(testee, {0, 1});
  EXPECT_TRUE(testee.alarms().empty()) << "199 visits since";
  add(testee, {1, 0});
  const std::vector<request_watch::alarm> deserted{
    {.what = kind::deserted, .expert = 2, .count = 200}};
  EXPECT_EQ(testee.alarms(), deserted);
  EXPECT_EQ(text_of(deserted.front(), "model.2"),
            "no client has asked for expert 'model.2' in the last 200 visits");
  add(testee, {0, 2}); // Also at the last place.
  EXPECT_TRUE(testee.alarms().empty());
}

// 200 visits for two each ask for 400: of 401 experts one is always left out.
TEST(requests, for_many_experts_are_looked_at_for_longer) {
  const auto of = [](std::size_t experts, std::size_t asked) {
    return request_watch{{.experts = experts, .asked = asked}}.deserted_among();
  };
  EXPECT_EQ(of(2, 1), 200u);
  EXPECT_EQ(of(100, 2), 200u);
  EXPECT_EQ(of(101, 2), 202u);
  EXPECT_EQ(of(401, 2), 802u);
  EXPECT_EQ(of(401, 3), 535u) << "a part of a visit is a whole one";
  request_watch testee{{.experts = 401, .asked = 2}};
  for (std::uint32_t i = 0; i < 800; ++i)
    add(testee, {i % 400, (i + 200) % 400});
  EXPECT_TRUE(testee.alarms().empty()) << "each is asked for in turn";
  add(testee, {0, 200}, 2);
  const std::vector<request_watch::alarm> left_out{
    {.what = kind::deserted, .expert = 400, .count = 802}};
  EXPECT_EQ(testee.alarms(), left_out);
  EXPECT_EQ(text_of(left_out.front(), "model.400"),
            "no client has asked for expert 'model.400' in the last 802 "
            "visits");
}

TEST(requests, are_different_whole_numbers_of_experts) {
  const auto in = [](std::vector<double> x) { return request_in(x, 3); };
  EXPECT_EQ(in({2, 0}), (request{2, 0}));
  EXPECT_TRUE(in({}).empty());
  EXPECT_TRUE(in({3}).empty());
  EXPECT_TRUE(in({-1}).empty());
  EXPECT_TRUE(in({0.5}).empty());
  EXPECT_TRUE(in({1, 1}).empty());
  EXPECT_TRUE(in({std::numeric_limits<double>::quiet_NaN()}).empty());
}

} // namespace troupe::policies
