#include "node/watch/folder.hpp"

#include <fstream>
#include <memory>
#include <string>

#include "core/limits.hpp"
#include "models/files.hpp"
#include "tests/support/small_disk.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::node {

namespace {

class folder_of_a_run : public ::testing::Test {
protected:
  void SetUp() override {
    auto made = run_folder::make(x_);
    ASSERT_TRUE(made) << made.error().context;
    testee = std::make_unique<run_folder>(std::move(*made));
  }

  std::string text_of(const std::string& name) const {
    return models::read_text(testee->path() / name, errc::storage_failure)
      .value_or("none");
  }

  const test::scratch_folder scratch_;
  const experiment x_ = test::configured(
    test::quadratic_run, {"ledger=memory", "events=true"}, scratch_.path());
  std::unique_ptr<run_folder> testee;
};

} // namespace

TEST_F(folder_of_a_run, has_metrics_whole_when_its_disk_was_full) {
  testee->metric("first");
  {
    const test::small_disk full{8}; // There is room for half the second line.
    testee->metric("second");
    testee->metric("third");
    EXPECT_EQ(testee->metrics_size(), 6u)
      << "a snapshot would have half a line";
  }
  testee->metric("fourth");
  EXPECT_EQ(text_of("metrics.jsonl"), "first\nsecond\nthird\nfourth\n");
}

TEST_F(folder_of_a_run, says_once_how_many_metrics_a_full_disk_has_lost) {
  const std::string most(limits::unwritten_bytes_max, 'x');
  testee->metric("first");
  {
    const test::small_disk full{8};
    testee->metric(most); // It waits, and nothing has room to wait behind it.
    testee->metric("lost");
    testee->metric("lost, too");
  }
  testee->metric("fourth");
  testee->metric("fifth");
  EXPECT_EQ(testee->metrics_size(), 6u + most.size() + 1 + 7 + 6);
  EXPECT_EQ(text_of("logs/run.log"),
            testee->path().string()
              + "/metrics.jsonl could not be written for a while, and 2 of its "
                "lines are lost\n");
}

TEST_F(folder_of_a_run, has_events_whole_when_its_disk_was_full) {
  const auto store = testee->open_store(x_, {});
  ASSERT_TRUE(store) << store.error().context;
  const auto note = [&](const std::string& text) {
    EXPECT_TRUE((*store)->note({messages::line_noted::file::events, text}));
    (void)(*store)->commit({});
  };
  note("first");
  {
    const test::small_disk full{8};
    note("second");
    note("third");
    EXPECT_EQ(text_of("events.jsonl"), "first\n");
  }
  note("fourth");
  EXPECT_EQ(text_of("events.jsonl"), "first\nsecond\nthird\nfourth\n");
}

// Else a line would be lost, and nobody would know of it.
TEST_F(folder_of_a_run, takes_no_event_that_has_no_room_to_wait_for_its_disk) {
  const auto store = testee->open_store(x_, {});
  ASSERT_TRUE(store) << store.error().context;
  const auto note = [&](const std::string& text) {
    return (*store)->note({messages::line_noted::file::events, text});
  };
  {
    const test::small_disk full{8};
    EXPECT_TRUE(note(std::string(limits::unwritten_bytes_max, 'x')));
    EXPECT_FALSE(note("next")) << "what is lost is taken for noted";
  }
  EXPECT_TRUE(note("next"));
}

// Its process may have been killed before it had made them.
TEST_F(folder_of_a_run, that_has_ended_says_which_pages_are_not_there) {
  const auto told = [&] {
    const auto again = run_folder::open(testee->path(), x_);
    return again ? std::string{} : again.error().context;
  };
  const auto path = testee->path().string();
  ASSERT_TRUE(testee->save_text(
    "summary.json", R"({"interrupted": false, "reason": "done"})"));
  const auto ended = path
                     + " has ended: done; 'init' begins another run with its "
                       "model.safetensors";
  EXPECT_EQ(told(), ended + "; report.html is not there: troupe report " + path
                      + " makes it; trace.json is not there: troupe trace "
                      + path + " makes it");
  ASSERT_TRUE(testee->save_text("report.html", "page"));
  ASSERT_TRUE(testee->save_text("trace.json", "{}"));
  EXPECT_EQ(told(), ended);
}

TEST_F(folder_of_a_run, is_not_changed_by_who_opens_it_and_does_not_write) {
  testee->metric("whole");
  std::ofstream{testee->path() / "metrics.jsonl", std::ios::app} << "half";
  const auto other = run_folder::open(testee->path(), x_);
  ASSERT_TRUE(other) << other.error().context;
  EXPECT_EQ(text_of("metrics.jsonl"), "whole\nhalf");
}

} // namespace troupe::node
