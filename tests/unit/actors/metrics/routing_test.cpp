// What is said of who asks for which expert, to those who watch.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/metrics/exposition.hpp"
#include "actors/metrics/wait_texts.hpp"
#include "actors/metrics/why.hpp"

namespace troupe::actors {

namespace {

using testing::HasSubstr;
using testing::Not;

seen_run run_of_two_experts() {
  seen_run x;
  for (const std::uint64_t i : {0, 1}) {
    const line_id line{i + 1};
    x.line_names[line] = "model." + std::to_string(i);
    x.lines[line] = {};
    x.load.experts[line] = {};
    x.load.requests.experts[line] = {.first = 3 * i, .asked = 4};
  }
  x.load.requests.visits = 4;
  x.load.requests.alarms = {
    {.line = {2}, .what = "crowded", .text = "expert 'model.1' has all"}};
  return x;
}

} // namespace

TEST(routing, is_said_by_expert_and_never_by_client) {
  const auto text = exposition_of(run_of_two_experts());
  for (const auto* line :
       {"troupe_expert_first_places_total{line=\"model.0\"} 0\n",
        "troupe_expert_first_places_total{line=\"model.1\"} 3\n",
        "troupe_expert_requests_total{line=\"model.1\"} 4\n",
        "troupe_routing_alarm{line=\"model.0\",what=\"crowded\"} 0\n",
        "troupe_routing_alarm{line=\"model.1\",what=\"crowded\"} 1\n",
        "troupe_routing_alarm{line=\"model.1\",what=\"deserted\"} 0\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(routing, is_not_said_where_nobody_asks) {
  auto x = run_of_two_experts();
  x.load.requests = {};
  EXPECT_THAT(exposition_of(x), Not(HasSubstr("troupe_routing_alarm{")));
}

TEST(routing, that_collapses_is_said_beside_what_a_run_waits_for) {
  auto x = run_of_two_experts();
  EXPECT_THAT(why(x).what, HasSubstr("; expert 'model.1' has all"));
  EXPECT_EQ(why(x).code, "starting");
  x.over = true;
  EXPECT_THAT(why(x).what, HasSubstr("; at the end: expert 'model.1' has all"));
}

TEST(routing, that_collapses_for_many_is_said_of_three) {
  std::vector<routing_alarm> all(5, {.line = {1}, .what = "", .text = "one"});
  EXPECT_EQ(text_of(all), "one; one; one; and so of 2 more experts");
  all.resize(1);
  EXPECT_EQ(text_of(all), "one");
}

} // namespace troupe::actors
