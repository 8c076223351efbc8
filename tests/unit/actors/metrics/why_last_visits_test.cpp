#include <gtest/gtest.h>

#include <utility>

#include "actors/director/course.hpp"
#include "actors/metrics/why.hpp"
#include "policies/visit_window.hpp"

namespace troupe::actors::why_last_visits_test {

namespace {

using namespace std::chrono_literals;

const line_id line{1};

/// Of a process that goes on with a run whose clients have last visits to come.
course_status at_last_visits(std::uint64_t clients) {
  course::options x;
  x.lines = {line};
  x.lead = line;
  x.last_role = 1;
  course::durable found;
  found.heads = {{line, {7}}};
  found.index_upto = 40;
  for (std::uint64_t k = 1; k <= clients; ++k) {
    found.clients[{k}] = {.client = {k}, .examples = 10, .numbers_upto = 32};
    policies::insert_once(found.merged, {{k}, {1}});
  }
  found.end = messages::course_end::length;
  course plan{x, std::move(found)};
  (void)plan.due(1s);
  (void)plan.ended({line, {7}}, 1s);
  return plan.status(1s);
}

} // namespace

TEST(why, names_last_visits) {
  run_status x;
  x.clock = "wall";
  x.course = at_last_visits(4);
  x.at = 1s;
  const auto found = why(x);
  EXPECT_EQ(found.code, "last_visits");
  EXPECT_EQ(found.what,
            "what was planned is done: last visits of 4 clients are "
            "to come, or under way");
}

} // namespace troupe::actors::why_last_visits_test
