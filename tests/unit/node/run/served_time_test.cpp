// The time of a served run goes on over processes, and never back.

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "core/clock.hpp"
#include "node/run/process_book.hpp"
#include "node/run/serving.hpp"
#include "node/task/workload.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {
namespace {

/// What the record of the run reached, in seconds.
constexpr double reached = 100;

/// As a process has it that goes on with a run, which began so many seconds ago
/// by its clock.
double seconds_of_run(std::int64_t began_ago) {
  const scratch_folder scratch;
  const std::filesystem::path folder{scratch.path()};
  const auto x = configured(quadratic_run, {"clock=wall"}, scratch.path());
  const auto work = node::prepare(x, no_model);
  const node::process_book book{.run = {1},
                                .began_ms =
                                  unix_milliseconds() - 1000 * began_ago,
                                .places = actors::leases{}};
  EXPECT_TRUE(work && book.keep(folder / "processes.json"));
  std::ofstream{folder / "metrics.jsonl"} << "{\"at\":" << reached << "}\n";
  const auto testee = node::serving::open(
    {.address = "tcp://127.0.0.1:*", .insecure = true}, x, *work);
  if (!testee || !(*testee)->open_book(x, *work, folder, false)) {
    ADD_FAILURE() << "it is not served";
    return -1;
  }
  return seconds((*testee)->elapsed());
}

} // namespace

TEST(served_time, is_what_has_gone_by_since_the_run_began) {
  const auto found = seconds_of_run(1'000);
  EXPECT_GE(found, 1'000);
  EXPECT_LT(found, 1'100);
}

TEST(served_time, does_not_go_back_with_a_clock_that_was_set_back) {
  EXPECT_EQ(seconds_of_run(40), reached);      // Behind what was recorded.
  EXPECT_EQ(seconds_of_run(-86'400), reached); // Before the run began.
}

} // namespace troupe::test
