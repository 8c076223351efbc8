// What a node begins with.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <caf/actor_registry.hpp>
#include <caf/atom.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include "actors/client/link.hpp"
#include "actors/record/begin_lines.hpp"
#include "actors/record/store.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "node/run/federation.hpp"
#include "node/run/heads.hpp"
#include "node/run/herald.hpp"
#include "node/run/plan.hpp"
#include "tests/support/passing_store.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

/// Counts how often all of it is read.
class counted_store final : public passing_store {
public:
  result<actors::stored_node> load() override {
    ++loads;
    return passing_store::load();
  }

  int loads = 0;
};

/// A gateway takes a copy, and is late for it.
class slow_to_copy {
public:
  slow_to_copy() = default;

  slow_to_copy(const slow_to_copy&) {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  }

  slow_to_copy(slow_to_copy&&) = default;
  slow_to_copy& operator=(const slow_to_copy&) = delete;
  slow_to_copy& operator=(slow_to_copy&&) = delete;
  ~slow_to_copy() = default;

  void operator()(visit_id, double) const {
    // nop
  }
};

/// A node by itself, whose time is over when it begins.
struct lone_node : testing::Test {
  lone_node()
    : x(configured(quadratic_run,
                   {"clock=wall", "time_budget=1", "evaluate_every=0"},
                   scratch.path())) {
    auto made = node::prepare(x, no_model);
    EXPECT_TRUE(made);
    work.emplace(std::move(*made));
    watching = std::make_shared<node::chronicle>(
      node::chronicle::options{.blocks = work->blocks,
                               .begin = {},
                               .clients = 12,
                               .metrics = [](const std::string&) {},
                               .show = [](const node::progress_report&) {}});
    args = node::plan_of(x, *work);
    args.books = actors::make_memory_store({});
    EXPECT_TRUE(actors::begin_lines(*args.books, *work->blocks, work->initial));
    args.arithmetic = kernels::make_cpu_backend();
    args.evaluator = std::move(*work->make_trainer());
    args.watching = std::make_shared<node::herald>(
      watching, std::make_shared<node::world_place>());
    args.network = hub->server_side();
    args.counted = std::make_shared<actors::traffic>();
    args.started_as = [this](const actors::cast& all) {
      hub->bind(all.gateway);
    };
  }

  ~lone_node() override {
    hub->close();
  }

  scratch_folder scratch;
  node::experiment x;
  std::optional<node::workload> work;
  std::shared_ptr<node::chronicle> watching;
  std::shared_ptr<actors::in_process_hub> hub =
    std::make_shared<actors::in_process_hub>();
  actors::node_args args;
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

// What its director says first is heard, and ends the run, however late the
// last of them comes.
TEST_F(lone_node, is_whole_before_anybody_speaks) {
  args.offered = slow_to_copy{};
  caf::actor_system_config config;
  caf::actor_system system{config};
  args.started = system.clock().now() - std::chrono::hours{1};
  const auto made = actors::start_node(system, args);
  const auto deadline = steady_now() + std::chrono::seconds{10};
  while (!watching->over() && steady_now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  EXPECT_TRUE(watching->over());
  hub->close();
  caf::anon_send_exit(made, caf::exit_reason::user_shutdown);
}

// There may be no memory just now, though all but the last of it is there.
TEST_F(lone_node, is_made_later_where_something_is_thrown_and_leaves_no_half) {
  int thrown = 0;
  args.started_as = [&, found = args.started_as](const actors::cast& x) {
    if (++thrown < 3)
      throw std::runtime_error{"there is no memory"};
    found(x);
  };
  args.detached = false; // All in turn.
  std::vector<std::string> said;
  caf::actor_system_config config;
  config.set("scheduler.policy", caf::atom("testing"));
  caf::actor_system system{config};
  system.await_actors_before_shutdown(false); // Red, and not for ever.
  auto& all =
    dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
  args.started = system.clock().now() - std::chrono::hours{1};
  const auto made = actors::start_node(
    system, args, [&](const std::string& why) { said.push_back(why); });
  all.run();
  EXPECT_EQ(said, std::vector<std::string>{"there is no memory"});
  EXPECT_EQ(system.registry().running(), 1U) << "what was made of it lives on";
  for (int i = 0; i < 10; ++i) {
    all.advance_time(std::chrono::seconds{1});
    all.run();
  }
  EXPECT_EQ(said.size(), 2U);
  EXPECT_TRUE(watching->over()) << "nobody has begun again";
  hub->close();
  caf::anon_send_exit(made, caf::exit_reason::user_shutdown);
  all.run();
}

} // namespace troupe::test
