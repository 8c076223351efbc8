// What a run makes of a model that nobody trains: its clients' rows, each once,
// and the same before and after whatever happens.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "actors/gateway/traffic.hpp"
#include "actors/record/begin_lines.hpp"
#include "actors/record/store.hpp"
#include "models/embedder.hpp"
#include "models/files.hpp"
#include "models/safetensors.hpp"
#include "node/commands/eval.hpp"
#include "node/run/federation.hpp"
#include "node/run/run.hpp"
#include "node/task/frozen.hpp"
#include "node/watch/chronicle.hpp"
#include "tests/support/gated_runs.hpp"
#include "tests/support/plain_run.hpp"
#include "tests/support/recorded_runs.hpp"

namespace troupe::test::common_model_laws_test {

namespace {

using ::testing::ContainsRegex;

/// Clients of which something happened, by a run's record.
std::multiset<std::uint64_t> whose(std::string_view event,
                                   const std::string& folder) {
  const auto all = read_lines(fs::path{folder} / "events.jsonl");
  std::multiset<std::uint64_t> clients;
  for (const auto place : places_of(event, all))
    clients.insert(
      ordered_json::parse(all[place - 1])["client"].get<std::uint64_t>());
  return clients;
}

/// All training rows that these clients have.
std::uint64_t rows_of(const std::multiset<std::uint64_t>& clients,
                      const node::workload& work) {
  std::uint64_t rows = 0;
  for (const auto client : std::set(clients.begin(), clients.end()))
    rows += work.examples({client});
  return rows;
}

/// Trains all rounds of a workload that is there.
void play(const node::experiment& x, const node::workload& work) {
  const std::shared_ptr<actors::store> books = actors::make_memory_store({});
  ASSERT_TRUE(actors::begin_lines(*books, *work.blocks, work.initial));
  node::chronicle::options opts{.blocks = work.blocks,
                                .clients = x.clients.clients,
                                .metrics = [](const std::string&) {},
                                .show = [](const node::progress_report&) {}};
  const auto watching = std::make_shared<node::chronicle>(std::move(opts));
  ASSERT_TRUE(
    node::run_federation({.x = x,
                          .work = work,
                          .books = books,
                          .watching = watching,
                          .counted = std::make_shared<actors::traffic>()}));
  ASSERT_FALSE(watching->report().lines.empty());
}

/// What the common model makes of a row, by its values alone.
std::vector<float> embedded_anew(const node::workload& work,
                                 std::uint32_t row) {
  auto model = work.task->make_common().value();
  model->begin();
  const auto values = work.task->frozen.at("common").copy();
  std::ranges::copy(values, model->parameters().begin());
  std::vector<float> out(model->embeddings()->width());
  EXPECT_TRUE(model->embeddings()->embed(models::split::train, row, out));
  return out;
}

/// What the run's clients see of it; empty where nobody has looked.
std::vector<float> embedded_by_run(const node::workload& work,
                                   std::uint32_t row, std::size_t width) {
  std::vector<float> out(width);
  const auto nobody = [](std::uint32_t, std::span<float>) -> result<void> {
    return fail(errc::invalid_argument, "nobody has looked at it");
  };
  const auto found = work.task->embedded->take(
    models::split::train, std::vector<std::uint32_t>{row}, width, out, nobody);
  return found ? out : std::vector<float>{};
}

std::string text_of(const fs::path& file) {
  std::ifstream in{file};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// As they lie in memory, and in a file that has them.
std::string bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

/// Files below a folder in which these bytes are.
std::set<std::string> files_with(const std::string& bytes,
                                 const std::string& parent) {
  std::set<std::string> names;
  for (const auto& one : fs::recursive_directory_iterator{parent})
    if (one.is_regular_file()
        && text_of(one.path()).find(bytes) != std::string::npos)
      names.insert(one.path().filename().string());
  return names;
}

/// The folder of the only run below another.
fs::path run_in(const std::string& parent) {
  std::error_code none;
  for (const auto& one : fs::directory_iterator{parent, none})
    if (!one.path().filename().string().starts_with('.')) // Not begun yet.
      return one.path();
  return {};
}

} // namespace

TEST_F(common_model_run, embeds_each_row_of_who_is_invited_once) {
  const auto common = trained("1");
  for (const std::string workers : {"1", "4"}) {
    const auto x =
      over(common, {"clients=12", "clients_per_round=3", "rounds=3",
                    "events=true", "workers=" + workers});
    const auto done = finished(x);
    const auto who = whose("offered", done.folder);
    EXPECT_EQ(who.size(), 9u);
    const auto all = rows_of(who, prepared(x));
    EXPECT_LT(std::set(who.begin(), who.end()).size(), 12u)
      << "whoever is not invited has no rows among them";
    ASSERT_TRUE(done.rows_embedded);
    EXPECT_EQ(*done.rows_embedded, all) << workers << " workers";
  }
}

TEST_F(common_model_run, embeds_no_row_twice_where_clients_fail) {
  const auto common = trained("1");
  for (const std::string workers : {"1", "4"}) {
    const auto x =
      over(common, {"clients=12", "mode=fedbuff", "versions=60",
                    "buffer_size=3", "events=true", "drop_out=0.2",
                    "devices.seconds_per_step=0.01", "crashes.per_hour=5000",
                    "crashes.restart_seconds=0.2", "workers=" + workers});
    const auto done = finished(x);
    const auto invited = whose("invited", done.folder);
    const auto offered = whose("offered", done.folder);
    EXPECT_LT(offered.size(), invited.size()) << "no visit was lost";
    const auto work = prepared(x);
    ASSERT_TRUE(done.rows_embedded);
    EXPECT_GE(*done.rows_embedded, rows_of(offered, work));
    EXPECT_LE(*done.rows_embedded, rows_of(invited, work));
  }
}

TEST_F(common_model_run, leaves_the_common_model_as_it_was) {
  const auto x = over(trained("1"), {"rounds=8", "workers=2"});
  const auto work = prepared(x);
  const auto before = node::frozen_digests(work).at("common");
  play(x, work);
  EXPECT_EQ(node::frozen_digests(work).at("common"), before);
  // Also as each worker has it: what was seen late is as what was seen first.
  std::size_t seen = 0;
  for (const auto& rows : work.task->clients.train)
    for (const auto row : rows) {
      const auto anew = embedded_anew(work, row);
      const auto was = embedded_by_run(work, row, anew.size());
      seen += was.empty() ? 0 : 1;
      EXPECT_TRUE(was.empty() || was == anew) << "row " << row;
    }
  EXPECT_GT(seen, 0u);
  EXPECT_EQ(seen, work.task->embedded->made());
}

// A snapshot between the two legs of visits, and rows that are embedded again.
TEST_F(common_model_run, stopped_in_its_middle_ends_as_an_unbroken_one) {
  const auto common = trained("1");
  const overrides changes{"common=" + common, "ledger=disk", "events=true",
                          "rounds=400", "snapshot_seconds=1000"};
  const auto whole = finished(configured(gated_run, changes, folder("whole")));
  const auto place = folder("cut");
  const auto x = configured(gated_run, changes, place);
  std::atomic<bool> stop{false};
  std::atomic<bool> ended{false};
  std::thread asks{[&] {
    std::error_code none;
    // Without a file it is the largest number.
    while (!ended
           && fs::file_size(run_in(place) / "events.jsonl", none) + 1 < 8000)
      std::this_thread::yield();
    stop = true;
  }};
  const auto cut = node::run(x, {.make_model = no_model, .stop = &stop});
  ended = true;
  asks.join();
  ASSERT_TRUE(cut) << cut.error().context;
  ASSERT_TRUE(cut->interrupted && cut->goes_on);
  EXPECT_GT(cut->versions, 0u);
  EXPECT_LT(cut->versions, whole.versions);
  fs::remove_all(common);
  const auto done =
    node::run(x, {.make_model = no_model, .resume = cut->folder});
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_EQ(done->digest, whole.digest);
  EXPECT_EQ(done->visits, whole.visits);
  for (const auto* name : {"events.jsonl", "metrics.jsonl"})
    EXPECT_TRUE(text_of(fs::path{done->folder} / name)
                == text_of(fs::path{whole.folder} / name))
      << name;
}

// They are made again: neither a snapshot nor a client's state has them.
TEST_F(common_model_run, leaves_rows_as_it_sees_them_in_no_file) {
  const auto x = over(trained("1"), {"ledger=disk", "events=true", "rounds=400",
                                     "snapshot_seconds=0.001"});
  std::atomic<bool> stop{false};
  std::atomic<bool> ended{false};
  const auto place = folder("gated");
  std::thread asks{[&] {
    std::error_code none;
    while (!ended
           && fs::file_size(run_in(place) / "events.jsonl", none) + 1 < 8000)
      std::this_thread::yield();
    stop = true;
  }};
  const auto cut = node::run(x, {.make_model = no_model, .stop = &stop});
  ended = true;
  asks.join();
  ASSERT_TRUE(cut) << cut.error().context;
  ASSERT_TRUE(cut->interrupted && cut->goes_on);
  const auto work = prepared(x);
  const auto common = work.task->frozen.at("common").copy();
  EXPECT_THAT(files_with(bytes_of(std::span{common}.first(4)), cut->folder),
              ::testing::Contains(std::string{node::common_file}))
    << "values are not found where they are";
  std::size_t looked_for = 0;
  for (const auto& rows : work.task->clients.train)
    for (const auto row : rows) {
      const auto seen = embedded_anew(work, row);
      // Fewer numbers, and zeros, may be anywhere.
      if (std::ranges::count(seen, 0.0F) > 2 || looked_for == 20)
        continue;
      ++looked_for;
      EXPECT_THAT(files_with(bytes_of(seen), cut->folder), ::testing::IsEmpty())
        << "row " << row;
    }
  EXPECT_GT(looked_for, 0u);
}

TEST_F(common_model_run, that_others_begin_with_is_theirs_too) {
  const auto common = trained("1");
  const auto path = finished(over(common)).folder + "/model.safetensors";
  const auto content = [](const node::workload& x) {
    return node::frozen_digests(x).at("common");
  };
  const auto its = content(prepared(over(common)));
  const auto next =
    prepared(configured(gated_run, {"init=" + path}, folder("next")));
  std::vector<float> all;
  for (const auto& [id, values] : next.initial)
    all.insert(all.end(), values->begin(), values->end());
  EXPECT_EQ(all, models::read_safetensors(path).value().values);
  EXPECT_EQ(content(next), its) << "and not that of the seed";
  const auto other = trained("2");
  EXPECT_EQ(content(prepared(over(other, {"init=" + path}))),
            content(prepared(over(other))));
}

TEST_F(common_model_run, begins_with_no_more_experts_than_it_has) {
  const auto common = trained("1");
  const auto path =
    finished(over(common, {"options.experts=3"})).folder + "/model.safetensors";
  const auto made = node::prepare(over(common, {"init=" + path}), no_model);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().context,
              HasSubstr("has 'model.2', and of 'model' this run has 2; a file "
                        "of as many would do"));
}

TEST_F(common_model_run, has_no_accuracies_without_labels) {
  const auto run = finished(over(trained("1")));
  const overrides args{run.folder, "--matrix"};
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(node::eval_command(no_model, args, {out, err}),
            node::exit_code::configuration);
  EXPECT_THAT(err.str(), HasSubstr("this data has no labels, so no model has "
                                   "an accuracy; data with labels would do"));
  EXPECT_FALSE(fs::exists(fs::path{run.folder} / "matrix.json"));
}

// The plain loop has nobody who watches.
TEST(routing_alarm, changes_no_bit) {
  const scratch_folder scratch;
  const overrides crowded{
    "method=ddome",       "clients=1",         "clients_per_round=1",
    "rounds=60",          "events=true",       "options.experts=2",
    "options.chosen=2",   "options.anchors=0", "options.anchors_per_round=0",
    "options.gate_rate=0"};
  const auto x = configured(quadratic_run, crowded, scratch.path());
  const auto done = finished(x);
  const auto summary = nlohmann::json::parse(
    std::ifstream{fs::path{done.folder} / "summary.json"});
  EXPECT_EQ(summary["routing"]["alarms"].size(), 1u) << summary["routing"];
  EXPECT_EQ(summary["accuracy_is_of"], "a newcomer with all rows");
  expect_plain_run(x, no_model, "crowded");
}

// It takes less time than one look, so nobody has seen it begin.
TEST(routing_alarm, is_said_at_the_end) {
  const scratch_folder scratch;
  const auto x = configured(
    quadratic_run,
    {"method=ddome", "clients=1", "clients_per_round=1", "rounds=60",
     "events=true", "options.experts=2", "options.chosen=2",
     "options.anchors=0", "options.anchors_per_round=0", "options.gate_rate=0"},
    scratch.path());
  std::ostringstream shown;
  const auto done =
    node::run(x, {.make_model = no_model, .progress = &shown}).value();
  const std::string what = "has 50 of the last 50 first places";
  EXPECT_THAT(shown.str(), ContainsRegex("at the end: expert .*" + what));
  EXPECT_THAT(to_text(done), ContainsRegex("\n  alarm      expert .*" + what));
  const auto log = models::read_text(fs::path{done.folder} / "logs/run.log",
                                     errc::invalid_data)
                     .value();
  EXPECT_THAT(log, ContainsRegex("at the end: expert .*" + what));
  const auto status =
    models::read_text(fs::path{done.folder} / "status.json", errc::invalid_data)
      .value();
  EXPECT_THAT(status, ContainsRegex("at the end: expert .*" + what));
}

} // namespace troupe::test::common_model_laws_test
