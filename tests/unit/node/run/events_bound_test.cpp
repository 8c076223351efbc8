// A record that grows without end would fill the disk.

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

} // namespace

TEST(record, ends_a_run_in_order_when_it_is_full) {
  const scratch_folder scratch;
  const auto x = configured(quadratic_run,
                            {"ledger=disk", "events=true", "events_max=1",
                             "workers=1", "evaluate_every=0", "rounds=1000000"},
                            scratch.path());
  const auto done = node::run(x, {.make_model = no_model});
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_TRUE(done->failed);
  EXPECT_FALSE(done->interrupted);
  EXPECT_THAT(done->reason, HasSubstr("'events_max'"));
  EXPECT_GT(done->versions, 100u);
  const auto size = fs::file_size(fs::path{done->folder} / "events.jsonl");
  EXPECT_GT(size, std::uintmax_t{1} << 20);
  EXPECT_LT(size, (std::uintmax_t{1} << 20) + 10'000);
}

} // namespace troupe::test
