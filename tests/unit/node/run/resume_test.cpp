// A simulated run that is killed goes on from its last snapshot, and ends as
// the unbroken one does: the same digests, events and metrics.

#include <atomic>
#include <csignal>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.hpp"
#include "core/random.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test::resume_test {

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in{file};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

fs::path only_folder_in(const fs::path& parent) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator{parent, none})
    if (!entry.path().filename().string().starts_with('.')) // Not begun yet.
      return entry.path();
  return {};
}

struct scene {
  std::string_view mode;
  overrides changes;
};

overrides long_enough(const scene& x) {
  overrides all = x.changes;
  for (const auto* more : {"ledger=disk", "events=true", "evaluate_every=5",
                           "snapshot_seconds=0.005"})
    all.push_back(more);
  all.push_back("mode=" + std::string{x.mode});
  const bool rounds = x.mode == "sync" || x.mode == "semisync";
  all.push_back(rounds ? "rounds=150" : "versions=150");
  return all;
}

/// Runs it in a process of its own that dies after a while.
void run_and_kill(const node::experiment& x, instant after) {
  const auto child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    (void)node::run(x, {.make_model = no_model});
    _exit(0);
  }
  std::this_thread::sleep_for(after);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
}

/// How long a run takes, of which a part is let pass before it is cut: this
/// machine may have more to do at one time than at another.
class guessed_length {
public:
  explicit guessed_length(instant whole) : took_(seconds(whole)) {
    // nop
  }

  /// One to eight ninths of it, by turns.
  instant part(int attempt) const {
    return from_seconds(took_ * (attempt % 8 + 1) / 9);
  }

  void was_too_long() {
    took_ *= 0.8;
  }

  void was_too_short() {
    took_ *= 1.25;
  }

private:
  double took_;
};

/// Eight times, and more where too few of them were at the right time.
bool goes_on(int attempt, int resumed) {
  return attempt < 8 || (attempt < 40 && resumed < 3);
}

/// What both leave behind.
void expect_same(const node::run_summary& x, const node::run_summary& whole) {
  EXPECT_EQ(x.digest, whole.digest);
  EXPECT_EQ(x.visits, whole.visits);
  EXPECT_EQ(x.virtual_seconds, whole.virtual_seconds);
  for (const auto* name : {"events.jsonl", "metrics.jsonl"})
    EXPECT_EQ(text_of(fs::path{x.folder} / name),
              text_of(fs::path{whole.folder} / name))
      << name;
}

/// How many visits said whom they ask for, by the record.
std::uint64_t asked_in(const node::run_summary& x) {
  const auto* visits = x.routing ? x.routing->find("visits") : nullptr;
  return visits ? visits->count().value_or(0) : 0;
}

/// No snapshot is taken in its time.
overrides without_snapshots() {
  auto all = long_enough({"fedbuff", {"method=ditto"}});
  all.emplace_back("snapshot_seconds=1000");
  return all;
}

/// Two legs, of which the second is what the client asked for.
const overrides asking{"method=ddome", "options.experts=3", "options.chosen=2",
                       "options.anchors=2", "options.anchors_per_round=1"};

class killed_run : public ::testing::TestWithParam<scene> {};

} // namespace

TEST_P(killed_run, ends_as_if_nothing_had_happened) {
  const auto changes = long_enough(GetParam());
  const scratch_folder scratch;
  const auto began = steady_now();
  const auto whole =
    finished(configured(quadratic_run, changes, scratch.path() + "/whole"));
  const auto took = seconds(steady_now() - began);
  random_stream draw{derive_seed(1, GetParam().mode)};
  int resumed = 0;
  for (int attempt = 0; attempt < 40 && resumed < 4; ++attempt) {
    const auto place = scratch.path() + "/" + std::to_string(attempt);
    const auto x = configured(quadratic_run, changes, place);
    run_and_kill(x, from_seconds(took * draw.uniform()));
    const auto folder = only_folder_in(place);
    if (folder.empty() || fs::exists(folder / "summary.json"))
      continue;
    const auto board = std::make_shared<node::status_board>();
    const auto done =
      node::run(x, {.make_model = no_model, .resume = folder, .board = board});
    ASSERT_TRUE(done) << done.error().context;
    ++resumed;
    expect_same(*done, whole);
    EXPECT_EQ(board->last()->load.requests.visits, asked_in(*done))
      << "who watches has forgotten what was asked for";
  }
  EXPECT_GE(resumed, 3) << "nothing was killed at the right time";
}

TEST(killed_before_its_first_snapshot, a_run_begins_again) {
  const auto changes = without_snapshots();
  const scratch_folder scratch;
  const auto began = steady_now();
  const auto whole =
    finished(configured(quadratic_run, changes, scratch.path() + "/whole"));
  guessed_length length{steady_now() - began};
  int resumed = 0;
  for (int attempt = 0; goes_on(attempt, resumed); ++attempt) {
    const auto place = scratch.path() + "/" + std::to_string(attempt);
    const auto x = configured(quadratic_run, changes, place);
    run_and_kill(x, length.part(attempt));
    const auto folder = only_folder_in(place);
    if (!fs::exists(folder / "config.toml")) {
      length.was_too_short();
      continue;
    }
    if (fs::exists(folder / "summary.json")) {
      length.was_too_long();
      continue;
    }
    const auto done = node::run(x, {.make_model = no_model, .resume = folder});
    ASSERT_TRUE(done) << done.error().context;
    expect_same(*done, whole);
    ++resumed;
  }
  EXPECT_GE(resumed, 3);
}

TEST(run_ended_in_order, goes_on_from_there) {
  const auto changes = without_snapshots();
  const scratch_folder scratch;
  const auto began = steady_now();
  const auto whole =
    finished(configured(quadratic_run, changes, scratch.path() + "/whole"));
  guessed_length length{steady_now() - began};
  int resumed = 0;
  for (int attempt = 0; goes_on(attempt, resumed); ++attempt) {
    const auto place = scratch.path() + "/" + std::to_string(attempt);
    const auto x = configured(quadratic_run, changes, place);
    std::atomic<bool> stop{false};
    std::thread asks{[&stop, after = length.part(attempt)] {
      std::this_thread::sleep_for(after);
      stop = true;
    }};
    const auto cut = node::run(x, {.make_model = no_model, .stop = &stop});
    asks.join();
    ASSERT_TRUE(cut) << cut.error().context;
    if (!cut->interrupted) {
      length.was_too_long();
      continue;
    }
    EXPECT_TRUE(cut->goes_on);
    EXPECT_LT(cut->versions, whole.versions);
    const auto done =
      node::run(x, {.make_model = no_model, .resume = cut->folder});
    ASSERT_TRUE(done) << done.error().context;
    EXPECT_GT(done->visits, cut->visits);
    expect_same(*done, whole);
    // It went on, and did not begin again.
    EXPECT_NE(text_of(fs::path{cut->folder} / "logs/run.log").find("resumed"),
              std::string::npos);
    ++resumed;
  }
  EXPECT_GE(resumed, 3);
}

// What it said of its end is not true any more while it goes on.
TEST(run_ended_in_order, forgets_its_end_when_it_goes_on) {
  const scratch_folder scratch;
  const auto x = configured(quadratic_run, without_snapshots(), scratch.path());
  std::atomic<bool> stop{true};
  const auto cut = node::run(x, {.make_model = no_model, .stop = &stop});
  ASSERT_TRUE(cut && cut->interrupted);
  // One of the files that say how it ended, which this run will not write.
  const auto best = fs::path{cut->folder} / "best.safetensors";
  std::ofstream{best} << "of its end";
  const auto done =
    node::run(x, {.make_model = no_model, .resume = cut->folder});
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_FALSE(fs::exists(best));
}

// As a kill leaves them that comes while a file is written.
TEST(run_ended_in_order, loses_what_was_left_unfinished) {
  const scratch_folder scratch;
  const auto x = configured(quadratic_run, without_snapshots(), scratch.path());
  std::atomic<bool> stop{true};
  const auto cut = node::run(x, {.make_model = no_model, .stop = &stop});
  ASSERT_TRUE(cut && cut->interrupted);
  const fs::path folder{cut->folder};
  fs::create_directory(folder / "offers");
  const std::vector<fs::path> left{
    folder / "status.json.17-1.unfinished",
    folder / "logs" / "began.toml.17-2.unfinished",
    folder / "offers" / "1-2-ab.17-3.unfinished"};
  for (const auto& path : left)
    std::ofstream{path} << "half";
  const auto done =
    node::run(x, {.make_model = no_model, .stop = &stop, .resume = folder});
  ASSERT_TRUE(done) << done.error().context;
  for (const auto& path : left)
    EXPECT_FALSE(fs::exists(path)) << path;
}

// Else lines are missing, and nobody hears of it.
TEST(run_ended_in_order, does_not_go_on_with_half_a_record) {
  for (const auto* name : {"events.jsonl", "metrics.jsonl"}) {
    const scratch_folder scratch;
    auto changes = long_enough({"fedbuff", {"method=ditto"}});
    changes.emplace_back("versions=1000000");
    const auto x = configured(quadratic_run, changes, scratch.path());
    std::atomic<bool> stop{false};
    std::thread asks{[&] {
      std::error_code none;
      while (fs::file_size(only_folder_in(scratch.path()) / name, none) + 1
             < 2000)
        std::this_thread::yield();
      stop = true;
    }};
    const auto cut = node::run(x, {.make_model = no_model, .stop = &stop});
    asks.join();
    ASSERT_TRUE(cut && cut->interrupted);
    const fs::path folder{cut->folder};
    fs::resize_file(folder / name, 999);
    const auto done =
      node::run(x, {.make_model = no_model, .stop = &stop, .resume = folder});
    ASSERT_FALSE(done) << name << " may be shorter";
    // Half of its last line is cut off.
    const auto& told = done.error().context;
    EXPECT_NE(told.find(std::string{name} + ": has "), std::string::npos)
      << told;
    EXPECT_NE(told.find("bytes, and the snapshot is of when"),
              std::string::npos)
      << told;
    EXPECT_TRUE(fs::exists(folder / "summary.json")) << "it forgot its end";
  }
}

TEST(run_that_has_ended, is_not_resumed) {
  const scratch_folder scratch;
  const auto x = configured(quadratic_run, long_enough({"sync", {"rounds=5"}}),
                            scratch.path());
  const auto whole = finished(x);
  const auto left = [&] {
    std::string all;
    for (const auto* name :
         {"summary.json", "events.jsonl", "metrics.jsonl", "model.safetensors"})
      all += text_of(fs::path{whole.folder} / name);
    return all;
  };
  const auto before = left();
  const std::atomic<bool> stop{true};
  const auto again = node::run(
    x, {.make_model = no_model, .stop = &stop, .resume = whole.folder});
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().context.find("has ended: the run's length"),
            std::string::npos)
    << again.error().context;
  EXPECT_EQ(left(), before);
}

// It would be neither the one run nor the other.
TEST(run_that_was_changed, is_not_resumed) {
  const scratch_folder scratch;
  const auto x = configured(quadratic_run, without_snapshots(), scratch.path());
  std::atomic<bool> stop{true};
  const auto cut = node::run(x, {.make_model = no_model, .stop = &stop});
  ASSERT_TRUE(cut && cut->interrupted);
  const auto summary = text_of(fs::path{cut->folder} / "summary.json");
  auto other = x;
  other.training.learning_rate = 0.125;
  const auto again =
    node::run(other, {.make_model = no_model, .resume = cut->folder});
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().context,
              ::testing::HasSubstr("config.toml: the run began with "
                                   "'learning_rate = "));
  EXPECT_THAT(again.error().context,
              ::testing::HasSubstr("and here is 'learning_rate = 0.125'"));
  EXPECT_EQ(text_of(fs::path{cut->folder} / "summary.json"), summary);
  // With other workers it is the same run.
  other = x;
  other.workers = 1;
  EXPECT_TRUE(
    node::run(other, {.make_model = no_model, .resume = cut->folder}));
}

// Nor is one whose ledger another run began, though nothing else says so.
TEST(run_that_was_changed, has_a_ledger_of_its_own) {
  const scratch_folder scratch;
  std::atomic<bool> stop{true};
  const auto cut = [&](const std::string& rate) {
    auto changes = without_snapshots();
    changes.emplace_back("ledger=disk");
    changes.emplace_back("learning_rate=" + rate);
    return configured(quadratic_run, changes, scratch.path());
  };
  const auto one = cut("0.1"), other = cut("0.125");
  const auto first = node::run(one, {.make_model = no_model, .stop = &stop});
  const auto second = node::run(other, {.make_model = no_model, .stop = &stop});
  ASSERT_TRUE(first && second);
  const fs::path from{first->folder}, to{second->folder};
  fs::copy_file(from / "ledger.sqlite", to / "ledger.sqlite",
                fs::copy_options::overwrite_existing);
  const auto again =
    node::run(other, {.make_model = no_model, .resume = second->folder});
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().context,
              ::testing::HasSubstr("ledger.sqlite: another run"));
  fs::remove(to / "logs" / "began.toml");
  fs::copy_file(from / "config.toml", to / "config.toml",
                fs::copy_options::overwrite_existing);
  EXPECT_TRUE(
    node::run(one, {.make_model = no_model, .resume = second->folder}));
}

INSTANTIATE_TEST_SUITE_P(
  paces, killed_run,
  ::testing::Values(
    scene{"sync", {"method=scaffold"}},
    scene{"sync", {"method=ditto", "over_selection=1.5"}},
    scene{"semisync", {}}, scene{"fedbuff", {"server.optimiser=adam"}},
    scene{"fedbuff", {"method=ditto", "refill=version"}}, scene{"fedasync", {}},
    scene{"sync", asking}, scene{"fedbuff", asking},
    scene{"fedbuff",
          {"method=scaffold", "drop_out=0.1", "availability.kind=windows",
           "period=20", "per_hour=200", "restart_seconds=1"}},
    scene{"sync", {"method=local"}}),
  [](const auto& x) {
    return std::string{x.param.mode} + std::to_string(x.index);
  });

} // namespace troupe::test::resume_test
