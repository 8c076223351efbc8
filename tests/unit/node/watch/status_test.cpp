// What can be seen of a run while it goes on, by those who do not take part.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <nlohmann/json.hpp>

#include "actors/metrics/exposition.hpp"
#include "actors/metrics/why.hpp"
#include "actors/record/begin_lines.hpp"
#include "actors/wiring.hpp"
#include "node/commands/why.hpp"
#include "node/run/federation.hpp"
#include "node/watch/monitor.hpp"
#include "node/watch/pages.hpp"
#include "tests/support/passing_store.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

using ::testing::HasSubstr;

/// A disk that is full until somebody makes room; or whose driver breaks, and
/// which then cannot be read for as long as somebody wants.
class full_store final : public passing_store {
public:
  result<actors::stored_node> load() override {
    const auto until = steady_now() + std::chrono::minutes{1};
    while (!readable && steady_now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    EXPECT_TRUE(readable.load())
      << "nobody made the store readable within a minute";
    return passing_store::load();
  }

  result<void> commit(const messages::commit_requested& x) override {
    if (breaks.exchange(false)) {
      readable = false;
      throw std::runtime_error{"the driver of the disk broke"};
    }
    if (full)
      return fail(errc::storage_failure,
                  "versions: cannot write: No space left on device");
    return passing_store::commit(x);
  }

  result<void> keep(const actors::snapshot&) override {
    if (full_for_snapshots)
      return fail(errc::storage_failure, "ledger: no room for a snapshot");
    return {};
  }

  std::atomic<bool> full{true};
  std::atomic<bool> full_for_snapshots{false};
  std::atomic<bool> breaks{false};
  std::atomic<bool> readable{true};
};

class run_status : public ::testing::Test {
protected:
  std::shared_ptr<const actors::seen_run> after(const overrides& changes) {
    const auto done =
      node::run(configured(quadratic_run, changes, scratch_.path()),
                {.make_model = no_model, .board = board_});
    EXPECT_TRUE(done);
    folder_ = done ? done->folder : "";
    return board_->last();
  }

  std::string said(node::exit_code expected, std::vector<std::string> args) {
    std::ostringstream out;
    EXPECT_EQ(node::why_command(args, {out, out}), expected);
    return out.str();
  }

  using heads = std::map<line_id, messages::version_published>;

  /// Two rounds whose versions cannot be stored until `look` has seen what the
  /// run says of it; null: they can from the start.
  heads on_a_full_disk(const std::string& clock,
                       const std::function<void(const std::string&)>& look) {
    const auto books = std::make_shared<full_store>();
    books->full = look != nullptr;
    return beside({"clock=" + clock, "rounds=2"}, books, [&] {
      if (!look)
        return;
      // A process that fails to store looks at it every second.
      until([&] { return actors::why(*board_->last()).code == "disk"; });
      look(said(node::exit_code::ok, {scratch_.path()}));
      books->full = false;
    });
  }

  static void until(const std::function<bool()>& seen) {
    for (int i = 0; i < 600 && !seen(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
    EXPECT_TRUE(seen());
  }

  /// A run and, beside it, who looks at it.
  heads beside(const overrides& changes,
               const std::shared_ptr<full_store>& books,
               const std::function<void()>& look) {
    auto x = configured(quadratic_run, changes, scratch_.path());
    auto work = node::prepare(x, no_model);
    EXPECT_TRUE(work);
    EXPECT_TRUE(actors::begin_lines(*books, *work->blocks, work->initial));
    node::chronicle::options opts{.blocks = work->blocks,
                                  .clients = 12,
                                  .metrics = [](const std::string&) {},
                                  .show = [](const node::progress_report&) {}};
    const auto watching = std::make_shared<node::chronicle>(std::move(opts));
    const auto counted = std::make_shared<actors::traffic>();
    node::monitor outlook{{.x = x,
                           .blocks = work->blocks,
                           .watching = watching,
                           .counted = counted,
                           .folder = scratch_.path(),
                           .board = board_}};
    std::jthread run{[&] {
      EXPECT_TRUE(node::run_federation({.x = x,
                                        .work = *work,
                                        .books = books,
                                        .watching = watching,
                                        .counted = counted,
                                        .stop = &stop_,
                                        .add_to_snapshot = [](auto&) {},
                                        .desk = outlook.desk()}));
    }};
    look();
    run.join();
    return watching->report().lines;
  }

  scratch_folder scratch_;
  std::string folder_;
  std::atomic<bool> stop_{false};
  std::shared_ptr<node::status_board> board_ =
    std::make_shared<node::status_board>();
};

} // namespace

TEST_F(run_status, of_a_run_that_is_over_agrees_with_its_summary) {
  const auto x = after({});
  ASSERT_TRUE(x);
  EXPECT_TRUE(x->over);
  EXPECT_EQ(x->visits, 24u);
  EXPECT_EQ(x->heads.at("model"), 6u);
  EXPECT_THAT(said(node::exit_code::ok, {folder_}),
              HasSubstr("the run is over: the run's length is reached"));
}

TEST_F(run_status, names_a_full_disk_until_there_is_room) {
  const auto done = on_a_full_disk("wall", [&](const std::string& text) {
    EXPECT_THAT(text, HasSubstr("waiting   version line 'model' cannot store "
                                "version 1: versions: cannot write: No space"));
    EXPECT_THAT(text, HasSubstr("until     room on the disk"));
  });
  EXPECT_EQ(done.begin()->second.head.value, 2u);
}

TEST_F(run_status, a_full_disk_holds_simulated_time_and_changes_no_bit) {
  const auto done = on_a_full_disk("virtual", [&](const std::string& text) {
    EXPECT_THAT(text, HasSubstr("its clock stands still: versions: cannot "
                                "write: No space"));
  });
  const auto unbroken = on_a_full_disk("virtual", nullptr);
  EXPECT_EQ(done.begin()->second.head.value, 2u);
  EXPECT_EQ(done.begin()->second.blocks.front().digest,
            unbroken.begin()->second.blocks.front().digest);
}

TEST_F(run_status, tells_and_counts_snapshots_that_were_not_kept) {
  const auto books = std::make_shared<full_store>();
  books->full = false;
  books->full_for_snapshots = true;
  beside({"rounds=1000000", "snapshot_seconds=0.01"}, books, [&] {
    until([&] { return board_->last() && board_->last()->lost.count > 1; });
    EXPECT_THAT(said(node::exit_code::ok, {scratch_.path()}),
                HasSubstr("the last snapshot could not be kept (ledger: no "
                          "room for a snapshot)"));
    EXPECT_THAT(actors::exposition_of(*board_->last()),
                ::testing::Not(HasSubstr("checkpoints_failed_total 0\n")));
    books->full_for_snapshots = false;
    until([&] { return board_->last()->lost.why.empty(); });
    EXPECT_GT(board_->last()->lost.count, 1u);
    stop_ = true;
  });
}

// The store is slow to read, so actors that broke are not there for a while.
TEST_F(run_status, answers_in_the_middle_of_a_rebuild_and_says_that_it_is_one) {
  const auto books = std::make_shared<full_store>();
  books->full = false;
  books->breaks = true;
  auto pages = node::pages_of(board_);
  beside({"clock=wall", "rounds=1000000"}, books, [&] {
    until([&] { return board_->last() && !board_->last()->broken.empty(); });
    for (int i = 0; i < 100; ++i) {
      const auto began = steady_now();
      const auto metrics = pages.at("/metrics")(false);
      EXPECT_LT(steady_now() - began, std::chrono::seconds{1});
      EXPECT_EQ(metrics.status, 200);
      EXPECT_THAT(metrics.body, HasSubstr("troupe_node_ready 0\n"));
      EXPECT_THAT(metrics.body, HasSubstr("troupe_restarts_total 1\n"));
    }
    EXPECT_EQ(pages.at("/healthz")(false).status, 200);
    EXPECT_EQ(pages.at("/readyz")(false).status, 503);
    EXPECT_THAT(pages.at("/why")(true).body, HasSubstr("\"rebuilding\""));
    books->readable = true;
    until([&] {
      return pages.at("/metrics")(false).body.find("troupe_node_ready 1\n")
             != std::string::npos;
    });
    EXPECT_EQ(board_->last()->restarts, 1u);
    stop_ = true;
  });
}

TEST_F(run_status, of_a_process_that_is_gone_says_so) {
  after({});
  auto text = [&] {
    std::ifstream file{folder_ + "/status.json"};
    return nlohmann::json::parse(file);
  }();
  text["over"] = false;
  text["process"] = 2'000'000'000; // Above what a kernel gives.
  std::ofstream{folder_ + "/status.json"} << text;
  EXPECT_THAT(said(node::exit_code::ok, {folder_}),
              HasSubstr("process 2000000000 is gone"));
  const auto json = nlohmann::json::parse(
    said(node::exit_code::ok, {folder_, "--format", "json"}));
  EXPECT_EQ(json["code"], "gone");
  EXPECT_EQ(json["success"], true);
}

TEST_F(run_status, is_not_in_a_folder_that_holds_no_run) {
  EXPECT_THAT(said(node::exit_code::data, {scratch_.path()}),
              HasSubstr("status.json: there is no such file; is this the "
                        "folder of a run, or of a process that joined one?"));
}

TEST_F(run_status, is_exposed_with_the_numbers_of_the_run) {
  const auto text = actors::exposition_of(*after({"method=scaffold"}));
  for (const auto* line :
       {"troupe_visits_total 24\n", "troupe_joins_total 12\n",
        "troupe_offers_total{verdict=\"accepted\"}",
        "troupe_offer_staleness_versions_bucket{line=",
        "troupe_workers{state=\"busy\"} 0\n",
        "troupe_mailbox_messages{actor=\"director\"} 0\n",
        "troupe_visit_seconds_count{phase=\"buffer\"} ",
        "troupe_evaluation_metric{metric=\"loss\",split=\"test\",scope="
        "\"global\"}",
        "troupe_run_info{method=\"scaffold\",mode=\"sync\",clock=\"virtual\","})
    EXPECT_THAT(text, HasSubstr(line));
  // Nobody is named.
  EXPECT_THAT(text, ::testing::Not(HasSubstr("client=")));
}

// Each version is of four offers of five numbers.
TEST_F(run_status, counts_the_bytes_of_what_was_merged) {
  const auto books = std::make_shared<full_store>();
  books->full = false;
  beside({"rounds=1000000"}, books, [&] {
    const auto line = [&] {
      const auto x = board_->last();
      return x && !x->lines.empty() ? x->lines.begin()->second
                                    : actors::line_status{};
    };
    until([&] { return line().merges.count > 0; });
    const auto seen = line();
    EXPECT_EQ(seen.merged_bytes, seen.merges.count * 4 * 5 * sizeof(float));
    stop_ = true;
  });
}

TEST_F(run_status, has_the_mail_of_all_actors_but_clients) {
  const auto x = after({});
  for (const std::string actor :
       {"roster", "router", "publisher", "archivist", "merger", "evaluator",
        "supervisor", "kernel_worker", "world"})
    EXPECT_TRUE(x->mailboxes.contains(actor)) << actor;
  EXPECT_EQ(x->readers.size(), x->line_names.size());
}

TEST_F(run_status, has_the_size_of_its_record_beside_its_bound) {
  const auto x = after({"ledger=disk", "events=true", "events_max=3"});
  EXPECT_EQ(x->record_bytes_max, std::uint64_t{3} << 20);
  EXPECT_GT(x->record_bytes, 0u);
  const auto without = after({});
  EXPECT_EQ(without->record_bytes_max, 0u);
  EXPECT_EQ(without->record_bytes, 0u);
}

TEST_F(run_status, pages_answer_before_during_and_after) {
  auto pages = node::pages_of(board_);
  EXPECT_EQ(pages.at("/healthz")(false).status, 200);
  EXPECT_EQ(pages.at("/readyz")(false).status, 503);
  EXPECT_THAT(pages.at("/why")(false).body, HasSubstr("the run begins"));
  EXPECT_THAT(pages.at("/metrics")(false).body, HasSubstr("troupe_build_info"));
  auto x = std::make_shared<actors::seen_run>();
  x->now_ms = unix_milliseconds();
  x->course.emplace().at = actors::course_status::phase::open;
  board_->publish(x);
  EXPECT_EQ(pages.at("/readyz")(false).status, 200);
  auto old = std::make_shared<actors::seen_run>(*x);
  old->now_ms -= 60'000;
  board_->publish(old);
  EXPECT_EQ(pages.at("/healthz")(false).status, 503);
  after({});
  EXPECT_EQ(pages.at("/readyz")(false).status, 503);
  EXPECT_EQ(nlohmann::json::parse(pages.at("/why")(true).body)["over"], true);
}

} // namespace troupe::test
