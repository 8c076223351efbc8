// Who is invited while offers under way and offers that wait take much.

#include "tests/unit/actors/director/course_fixture.hpp"

namespace troupe::actors {

namespace {

/// Of two lines, a hundred and ten bytes; and this much room.
course::options with_room(std::uint64_t bytes) {
  auto x = slots_of(10);
  x.line_bytes = {{lead, 100}, {other, 10}};
  x.bytes_max = bytes;
  return x;
}

std::size_t invited(const run_of& run) {
  return run.all<invitation_made>().size();
}

void publish(run_of& run, line_id line, std::uint64_t head,
             std::vector<visit_id> merged) {
  run.did(run.testee.published({.line = line,
                                .head = {head},
                                .round = {},
                                .blocks = {},
                                .merged = std::move(merged)},
                               run.now));
}

} // namespace

TEST(course_room, invites_nobody_beyond_it) {
  run_of run{with_room(330)};
  run.join(12);
  EXPECT_EQ(invited(run), 3u);
  EXPECT_TRUE(run.testee.status(run.now).full);
  // What waits takes as much as what is under way.
  const auto first = run.all<invitation_made>()[0].pass.visit;
  run.take(first);
  EXPECT_EQ(invited(run), 3u);
  EXPECT_EQ(run.testee.status(run.now).bytes_held, 330u);
  run.take(first); // A resend takes nothing.
  EXPECT_EQ(run.testee.status(run.now).bytes_held, 330u);
  // Some room is as good as none, or a large model would never be at work.
  publish(run, other, 1, {first});
  EXPECT_EQ(invited(run), 4u);
  publish(run, lead, 1, {first});
  EXPECT_EQ(run.testee.status(run.now).bytes_held, 330u);
}

TEST(course_room, comes_back_with_what_is_refused) {
  run_of run{with_room(110)};
  run.join(12);
  ASSERT_EQ(invited(run), 1u);
  const auto visit = run.all<invitation_made>()[0].pass.visit;
  run.take(visit);
  EXPECT_EQ(invited(run), 1u);
  for (const auto line : {lead, other})
    run.did(run.testee.taken({.visit = visit,
                              .line = line,
                              .lines_total = 2,
                              .verdict = policies::verdict::too_stale},
                             run.now));
  EXPECT_EQ(invited(run), 2u);
}

TEST(course_room, below_it_nothing_changes) {
  run_of bounded{with_room(1100)}, free{slots_of(10)};
  for (auto* run : {&bounded, &free})
    run->join(12);
  EXPECT_EQ(invited(bounded), invited(free));
  EXPECT_FALSE(bounded.testee.status(bounded.now).full);
}

} // namespace troupe::actors
