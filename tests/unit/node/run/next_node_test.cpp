// What a node that begins again has to be told.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "actors/record/arrivals.hpp"
#include "actors/record/begin_lines.hpp"
#include "core/hex.hpp"
#include "node/keys/pair.hpp"
#include "node/run/federation.hpp"
#include "node/run/heads.hpp"
#include "node/run/serving.hpp"
#include "tests/support/passing_store.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

std::shared_ptr<node::chronicle> watching_of(const node::workload& work) {
  return std::make_shared<node::chronicle>(
    node::chronicle::options{.blocks = work.blocks,
                             .begin = {},
                             .clients = 12,
                             .metrics = [](const std::string&) {},
                             .show = [](const node::progress_report&) {}});
}

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

/// One offer waits there; the first time that it is to be dropped the node
/// breaks.
class breaking_arrivals final : public actors::arrivals {
public:
  explicit breaking_arrivals(messages::part_offered x) : waits_(std::move(x)) {
    // nop
  }

  bool outlives() const noexcept override {
    return true;
  }

  result<void> keep(const messages::part_offered&) override {
    return {};
  }

  result<void> drop(line_id, std::span<const visit_id>) override {
    const auto times = ++drops_;
    if (times == 1)
      throw std::runtime_error{"the driver of the disk broke"};
    if (times == 2)
      dropped.set_value();
    return {};
  }

  result<messages::part_offered> read(line_id, visit_id) const override {
    return waits_;
  }

  result<shared_values> values(line_id, visit_id, block_id,
                               values_part) const override {
    return shared_values{};
  }

  result<std::vector<messages::part_offered>> found() override {
    return std::vector{waits_};
  }

  std::promise<void> dropped;

private:
  messages::part_offered waits_;
  std::atomic<int> drops_{0};
};

class store_with_arrivals final : public passing_store {
public:
  explicit store_with_arrivals(std::shared_ptr<actors::arrivals> x)
    : arrived_(std::move(x)) {
    // nop
  }

  std::shared_ptr<actors::arrivals> arrived() const override {
    return arrived_;
  }

private:
  std::shared_ptr<actors::arrivals> arrived_;
};

/// The door of a run whose first client is of a key that nobody allows any
/// more.
std::unique_ptr<node::serving> door_of(const node::experiment& x,
                                       const node::workload& work,
                                       const std::string& folder) {
  const auto who = node::hash_of(node::draw_pair().open);
  std::ofstream{folder + "/processes.json"}
    << R"({"run": ")" << to_hex(messages::run_id{1}) << R"(", "began_ms": )"
    << unix_milliseconds() << R"(, "processes": {")" << to_hex(who)
    << R"(": [1]}})";
  auto made = node::serving::open(
    {.address = "tcp://127.0.0.1:*", .keys = folder + "/keys"}, x, work);
  EXPECT_TRUE(made) << (made ? "" : made.error().context);
  if (!made)
    return nullptr;
  const auto read = (*made)->open_book(x, work, folder, false);
  EXPECT_TRUE(read) << (read ? "" : read.error().context);
  return std::move(*made);
}

} // namespace

// Nobody denies it again, and what it had offered would be merged.
TEST(next_node, hears_of_denials_that_the_one_before_had_not_acted_on) {
  const scratch_folder scratch;
  const auto x =
    configured(quadratic_run,
               {"clock=wall", "mode=fedbuff", "versions=1000000", "ledger=disk",
                "durability=offer", "evaluate_every=0"},
               scratch.path());
  const auto work = node::prepare(x, no_model);
  ASSERT_TRUE(work);
  const auto& block = work->blocks->blocks.front();
  const auto waiting =
    std::make_shared<breaking_arrivals>(messages::part_offered{
      .visit = {{1}, {4}},
      .line = block.line,
      .round = {},
      .base = {},
      .blocks = {{.block = block.id, .weight = 1, .delta = {}}}});
  const auto books = std::make_shared<store_with_arrivals>(waiting);
  ASSERT_TRUE(actors::begin_lines(*books, *work->blocks, work->initial));
  const auto door = door_of(x, *work, scratch.path());
  ASSERT_TRUE(door);
  auto told = door->begin(x, *work, {{}, [](const std::string&) {}});
  ASSERT_TRUE(told) << told.error().context;
  std::atomic<bool> stop{false};
  auto is_dropped = std::async(std::launch::async, [&] {
    const auto how =
      waiting->dropped.get_future().wait_for(std::chrono::seconds{20});
    stop = true;
    return how == std::future_status::ready;
  });
  const auto done =
    node::run_federation({.x = x,
                          .work = *work,
                          .books = books,
                          .watching = watching_of(*work),
                          .counted = std::make_shared<actors::traffic>(),
                          .stop = &stop,
                          .serves = door.get(),
                          .elapsed = door->elapsed(),
                          .reception = std::move(*told)});
  stop = true;
  EXPECT_TRUE(done) << (done ? "" : done.error().context);
  EXPECT_TRUE(is_dropped.get()) << "the next node keeps what is void";
}

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
  const auto watching = watching_of(*work);
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
