// What a node that begins again has to be told.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "actors/record/begin_lines.hpp"
#include "node/run/federation.hpp"
#include "node/run/heads.hpp"
#include "tests/support/passing_store.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

/// The first time that it is to store a version somebody wants the run to end;
/// when the node has been told, it breaks.
class breaking_store final : public passing_store {
public:
  result<void> commit(const messages::commit_requested& x) override {
    if (!stop.exchange(true)) {
      // It looks each 50 ms whether it is to end.
      std::this_thread::sleep_for(std::chrono::milliseconds{300});
      throw std::runtime_error{"the driver of the disk broke"};
    }
    return passing_store::commit(x);
  }

  std::atomic<bool> stop{false};
};

} // namespace

TEST(next_node, is_told_as_well_that_its_run_is_to_end) {
  const scratch_folder scratch;
  const auto x = configured(
    quadratic_run,
    {"clock=wall", "rounds=1000000", "time_budget=10", "evaluate_every=0"},
    scratch.path());
  const auto work = node::prepare(x, no_model);
  ASSERT_TRUE(work);
  const auto books = std::make_shared<breaking_store>();
  ASSERT_TRUE(actors::begin_lines(*books, *work->blocks, work->initial));
  const auto watching = std::make_shared<node::chronicle>(
    node::chronicle::options{.blocks = work->blocks,
                             .begin = {},
                             .clients = 12,
                             .metrics = [](const std::string&) {},
                             .show = [](const node::progress_report&) {}});
  ASSERT_TRUE(
    node::run_federation({.x = x,
                          .work = *work,
                          .books = books,
                          .watching = watching,
                          .counted = std::make_shared<actors::traffic>(),
                          .stop = &books->stop}));
  EXPECT_EQ(watching->report().finished->reason, node::interrupted_text);
}

} // namespace troupe::test
