// What a run says aloud of its gate, beside what it waits for.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "node/task/workload.hpp"
#include "node/watch/monitor.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

using alarms = std::vector<actors::routing_alarm>;

/// Looked at twice a second. Nobody runs: what the director says is said here.
class remarks_on_routing : public ::testing::Test {
protected:
  void TearDown() override {
    outlook_.reset(); // It says something to `said_`.
  }

  /// Waits until a look has seen these, and a second one.
  void stand(const alarms& xs) {
    actors::load_status load;
    load.requests.alarms = xs;
    draft_->add(load);
    until([&] {
      const auto seen = board_->last();
      return seen && seen->load.requests.alarms.size() == xs.size();
    });
    const auto before = board_->last();
    until([&] { return board_->last() != before; });
  }

  /// Nobody looks any more.
  void end() {
    outlook_.reset();
  }

  std::vector<std::string> said() const {
    const std::lock_guard guard{mutex_};
    return said_;
  }

  std::vector<std::string> logged() const {
    const std::lock_guard guard{mutex_};
    return logged_;
  }

private:
  static void until(const std::function<bool()>& seen) {
    for (int i = 0; i < 1200 && !seen(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
    ASSERT_TRUE(seen());
  }

  std::unique_ptr<node::monitor> looks() {
    node::chronicle::options opts{.blocks = work_.blocks,
                                  .clients = 12,
                                  .metrics = [](const std::string&) {},
                                  .show = [](const node::progress_report&) {}};
    // A wait, after ten seconds without a visit, is another remark.
    const auto say = [this](const std::string& line) {
      const std::lock_guard guard{mutex_};
      if (line.starts_with("expert ") || line.starts_with("at the end"))
        said_.push_back(line);
    };
    const auto log = [this](const std::string& line) {
      const std::lock_guard guard{mutex_};
      logged_.push_back(line);
    };
    return std::make_unique<node::monitor>(node::monitor::options{
      .x = x_,
      .blocks = work_.blocks,
      .watching = std::make_shared<node::chronicle>(std::move(opts)),
      .counted = std::make_shared<actors::traffic>(),
      .folder = scratch_.path(),
      .board = board_,
      .say = say,
      .log = log});
  }

  scratch_folder scratch_;
  const node::experiment x_ = configured(quadratic_run, {}, scratch_.path());
  const node::workload work_ = node::prepare(x_, no_model).value();
  const std::shared_ptr<node::status_board> board_ =
    std::make_shared<node::status_board>();
  mutable std::mutex mutex_;
  std::vector<std::string> said_;
  std::vector<std::string> logged_;
  std::unique_ptr<node::monitor> outlook_ = looks();
  const node::status_desk::draft draft_ = outlook_->desk()->asked();
};

const actors::routing_alarm first{
  .line = {1}, .what = "crowded", .text = "expert one"};
const actors::routing_alarm second{
  .line = {2}, .what = "crowded", .text = "expert two"};

} // namespace

TEST_F(remarks_on_routing, are_made_of_each_alarm_once_when_it_begins) {
  stand({first});
  EXPECT_EQ(said(), (std::vector<std::string>{"expert one"}));
  stand({first, second});
  EXPECT_EQ(said(), (std::vector<std::string>{"expert one", "expert two"}));
  stand({});
  EXPECT_EQ(said().size(), 2u);
  stand({first, second});
  EXPECT_EQ(said(), (std::vector<std::string>{"expert one", "expert two",
                                              "expert one; expert two"}));
}

TEST_F(remarks_on_routing, are_made_once_more_of_what_stands_at_the_end) {
  stand({first, second});
  stand({second});
  EXPECT_TRUE(logged().empty());
  end();
  EXPECT_EQ(said(), (std::vector<std::string>{"expert one; expert two",
                                              "at the end: expert two"}));
  EXPECT_EQ(logged(), (std::vector<std::string>{"at the end: expert two"}));
}

TEST_F(remarks_on_routing, are_not_made_at_the_end_of_what_is_over) {
  stand({first});
  stand({});
  end();
  EXPECT_EQ(said(), (std::vector<std::string>{"expert one"}));
  EXPECT_TRUE(logged().empty());
}

} // namespace troupe::test
