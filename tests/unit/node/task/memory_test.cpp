// How small the memory for offers may be.

#include <gmock/gmock.h>

#include "node/run/rules.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test::memory_test {

namespace {

using ::testing::HasSubstr;

/// Offers of 400 kB, ten to a version, and 1 MiB for them.
overrides large(overrides more) {
  for (const auto* x : {"mode=fedbuff", "dimension=100000", "buffer_size=10",
                        "pace.memory=1", "rounds=0", "versions=1"})
    more.emplace_back(x);
  return more;
}

std::string refusal(const overrides& x) {
  const auto made =
    node::prepare(configured(quadratic_run, large(x), ""), no_model);
  return made ? "" : made.error().context;
}

} // namespace

TEST(memory_for_offers, is_that_of_one_where_they_wait_on_disk) {
  EXPECT_EQ(refusal({"clock=wall", "ledger=disk"}), "");
  EXPECT_THAT(refusal({"clock=wall", "ledger=memory"}),
              HasSubstr("must be at least 4 MiB"));
  EXPECT_THAT(refusal({"ledger=disk"}), HasSubstr("they would wait on disk"));
  EXPECT_THAT(refusal({"clock=wall", "ledger=disk", "merge.rule=median"}),
              HasSubstr("its rule compares them"));
}

} // namespace troupe::test::memory_test
