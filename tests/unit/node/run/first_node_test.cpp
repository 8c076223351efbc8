// What a node begins with.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "actors/client/link.hpp"
#include "actors/record/begin_lines.hpp"
#include "actors/record/store.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "node/run/federation.hpp"
#include "node/run/heads.hpp"
#include "node/run/herald.hpp"
#include "node/run/plan.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

/// Counts how often all of it is read.
class counted_store final : public actors::store {
public:
  result<actors::stored_node> load() override {
    ++loads;
    return behind_->load();
  }

  result<void>
  begin(line_id line,
        const std::vector<messages::merged_block>& blocks) override {
    return behind_->begin(line, blocks);
  }

  result<void> commit(const messages::commit_requested& x) override {
    return behind_->commit(x);
  }

  result<void> save(const messages::save_requested& x) override {
    return behind_->save(x);
  }

  result<void> note(const messages::line_noted& x) override {
    return behind_->note(x);
  }

  int loads = 0;

private:
  std::unique_ptr<actors::store> behind_ = actors::make_memory_store({});
};

} // namespace

TEST(first_node, takes_what_its_run_has_read) {
  const scratch_folder scratch;
  const auto x = configured(quadratic_run, {"rounds=2"}, scratch.path());
  const auto work = node::prepare(x, no_model);
  ASSERT_TRUE(work);
  const auto books = std::make_shared<counted_store>();
  ASSERT_TRUE(actors::begin_lines(*books, *work->blocks, work->initial));
  auto found = books->load();
  ASSERT_TRUE(found);
  node::chronicle::options opts{.blocks = work->blocks,
                                .begin = node::beginning_of(*found, true),
                                .clients = 12,
                                .metrics = [](const std::string&) {},
                                .show = [](const node::progress_report&) {}};
  const auto watching = std::make_shared<node::chronicle>(std::move(opts));
  ASSERT_TRUE(
    node::run_federation({.x = x,
                          .work = *work,
                          .books = books,
                          .watching = watching,
                          .counted = std::make_shared<actors::traffic>(),
                          .found = &*found}));
  EXPECT_EQ(books->loads, 1);
  EXPECT_EQ(watching->report().lines.begin()->second.head.value, 2u);
}

// Its run is over before it begins: what its director says first is heard, and
// ends it, however late the last of them comes.
TEST(first_node, is_whole_before_anybody_speaks) {
  const scratch_folder scratch;
  const auto x = configured(quadratic_run,
                            {"clock=wall", "time_budget=1", "evaluate_every=0"},
                            scratch.path());
  const auto work = node::prepare(x, no_model);
  ASSERT_TRUE(work);
  auto args = node::plan_of(x, *work);
  args.books = actors::make_memory_store({});
  ASSERT_TRUE(actors::begin_lines(*args.books, *work->blocks, work->initial));
  args.arithmetic = kernels::make_cpu_backend();
  args.evaluator = std::move(*work->make_trainer());
  const auto watching = std::make_shared<node::chronicle>(
    node::chronicle::options{.blocks = work->blocks,
                             .begin = {},
                             .clients = 12,
                             .metrics = [](const std::string&) {},
                             .show = [](const node::progress_report&) {}});
  args.watching = std::make_shared<node::herald>(
    watching, std::make_shared<node::world_place>());
  const auto hub = std::make_shared<actors::in_process_hub>();
  args.network = hub->server_side();
  args.counted = std::make_shared<actors::traffic>();
  args.peers = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    return std::vector<peer_id>{};
  };
  caf::actor_system_config config;
  caf::actor_system system{config};
  args.started = system.clock().now() - std::chrono::hours{1};
  args.started_as = [hub](const actors::cast& all) { hub->bind(all.gateway); };
  const auto made = actors::start_node(system, args);
  const auto deadline = steady_now() + std::chrono::seconds{10};
  while (!watching->over() && steady_now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  EXPECT_TRUE(watching->over());
  hub->close();
  caf::anon_send_exit(made, caf::exit_reason::user_shutdown);
}

} // namespace troupe::test
