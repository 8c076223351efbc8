// Every run leaves its page, however it ends.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "node/report/trace.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

using ::testing::HasSubstr;

std::string page_in(const std::string& folder) {
  std::ifstream file{folder + "/report.html"};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct shown_trace {
  std::size_t visits = 0;
  std::size_t versions = 0;
  std::size_t arrows = 0;
};

/// What a trace shows, as a viewer reads it: slices of a track do not overlap,
/// every arrow has both ends, and each end is within a slice.
shown_trace trace_in(const std::string& path) {
  using nlohmann::json;
  std::ifstream file{path};
  const auto trace = json::parse(file, nullptr, false);
  shown_trace shown;
  std::map<std::pair<int, int>, std::map<std::int64_t, std::int64_t>> tracks;
  std::map<std::string, int> ends;
  for (const auto& x : trace.at("traceEvents"))
    if (x["ph"] == "X") {
      ++(x["pid"] == 1 ? shown.visits : shown.versions);
      auto& slices = tracks[{x["pid"], x["tid"]}];
      EXPECT_TRUE(slices.emplace(x["ts"], x["dur"]).second) << x;
    }
  for (const auto& [track, slices] : tracks)
    for (auto at = slices.begin(); std::next(at) != slices.end(); ++at)
      EXPECT_LE(at->first + at->second, std::next(at)->first)
        << track.first << '/' << track.second;
  for (const auto& x : trace["traceEvents"])
    if (x["ph"] == "s" || x["ph"] == "f") {
      ends[x["id"]] += x["ph"] == "s" ? 1 : -1;
      shown.arrows += x["ph"] == "s";
      const auto& slices = tracks.at({x["pid"], x["tid"]});
      auto around = slices.upper_bound(x["ts"]);
      EXPECT_NE(around, slices.begin()) << x;
      if (around != slices.begin()) {
        --around;
        EXPECT_LT(x["ts"].get<std::int64_t>(), around->first + around->second)
          << x;
      }
    }
  for (const auto& [id, both] : ends)
    EXPECT_EQ(both, 0) << id;
  return shown;
}

class run_report : public ::testing::Test {
protected:
  std::string page_after(const overrides& changes) {
    return page_in(
      finished(configured(quadratic_run, changes, scratch_.path())).folder);
  }

  scratch_folder scratch_;
};

} // namespace

TEST_F(run_report, is_left_by_a_run_with_all_of_its_events) {
  for (const std::string ledger : {"ledger=memory", "ledger=disk"}) {
    const auto text = page_after({"events=true", ledger});
    // Six rounds of four: every visit is merged, and fresh.
    EXPECT_THAT(text, HasSubstr("<tr><th scope=\"row\">merged into a version"
                                "</th><td>24 <small>100.0 %"));
    EXPECT_THAT(text, HasSubstr("100.0 % of the offers were fresh"));
    EXPECT_THAT(text, HasSubstr("✓ Ended:"));
  }
}

TEST_F(run_report, is_left_by_a_run_that_was_interrupted) {
  const std::atomic<bool> stop{true};
  const auto done = node::run(configured(quadratic_run, {}, scratch_.path()),
                              {.make_model = no_model, .stop = &stop});
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_THAT(page_in(done->folder), HasSubstr("Interrupted:"));
}

TEST_F(run_report, has_a_trace_beside_it_where_there_are_events) {
  for (const auto* mode : {"sync", "semisync", "fedbuff", "fedasync"}) {
    const auto end = finished(
      configured(quadratic_run,
                 under(mode, {"events=true", "drop_out=0.2", "quorum=1",
                              "round_deadline=3", "staleness_max=1"}),
                 scratch_.path()));
    const auto shown = trace_in(end.folder + "/trace.json");
    EXPECT_GE(shown.visits, end.visits) << mode; // Those that failed, too.
    EXPECT_EQ(shown.versions, end.versions) << mode;
    EXPECT_GT(shown.arrows, 0u) << mode;
  }
  const auto quiet = finished(
    configured(quadratic_run, {"events=false"}, scratch_.path() + "/quiet"));
  EXPECT_FALSE(std::filesystem::exists(quiet.folder + "/trace.json"));
  const auto none = node::write_trace(quiet.folder);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().context,
            quiet.folder
              + "/events.jsonl holds no events; the folder of a run with "
                "events = true would do");
}

TEST_F(run_report, has_a_trace_of_a_part_of_the_run) {
  const auto end = finished(
    configured(quadratic_run, under("fedbuff", {"events=true", "versions=40"}),
               scratch_.path()));
  const auto path = scratch_.path() + "/part.json";
  const auto last = node::write_trace(end.folder, path, {.visits_max = 10});
  ASSERT_TRUE(last);
  EXPECT_EQ(last->visits, 10u);
  EXPECT_GE(last->left_out + 10, end.visits);
  EXPECT_EQ(trace_in(path).visits, 10u);
  const auto half = *end.virtual_seconds / 2;
  const auto first = node::write_trace(end.folder, path, {.to = half});
  ASSERT_TRUE(first);
  EXPECT_LT(first->visits, end.visits);
  EXPECT_EQ(trace_in(path).visits, first->visits);
}

// Differences of what does not fit overflow.
TEST_F(run_report, has_a_trace_of_moments_that_cannot_be) {
  const auto end = finished(
    configured(quadratic_run, under("sync", {"events=true"}), scratch_.path()));
  const auto path = scratch_.path() + "/far.json";
  for (const auto* at : {"1e308", "-1e308", "1e17"}) {
    std::ofstream{end.folder + "/events.jsonl", std::ios::app}
      << R"({"at":)" << at << R"(,"event":"invited","client":1,"visit":999})"
      << '\n';
    ASSERT_TRUE(node::write_trace(end.folder, path));
    std::ostringstream text;
    text << std::ifstream{path}.rdbuf();
    EXPECT_EQ(text.str().find("922337203685477"), std::string::npos) << at;
  }
}

TEST_F(run_report, names_every_line_of_a_method_with_several) {
  const auto text = page_after({"method=scaffold", "events=true"});
  EXPECT_THAT(text, HasSubstr("Versions over virtual time"));
}

} // namespace troupe::test
