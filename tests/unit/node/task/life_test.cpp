// Where virtual clients live: files that say it, and runs that show it.

#include "node/task/life.hpp"

#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/small_runs.hpp"

namespace troupe::test::life_test {

namespace {

using nlohmann::json;
using policies::scene;

std::string refusal(std::string_view text) {
  const auto x = node::parse_scenario(text, "s.toml", 12);
  return x ? "read" : x.error().context;
}

std::string written(const std::string& path, std::string_view text) {
  std::ofstream{path} << text;
  return path;
}

/// A run, and its events in order.
struct lived {
  lived(overrides changes, const std::string& folder)
    : end(finished(
      configured(quadratic_run, with_events(std::move(changes)), folder))) {
    std::ifstream file{end.folder + "/events.jsonl"};
    for (std::string line; std::getline(file, line);)
      events.push_back(json::parse(line));
  }

  static overrides with_events(overrides x) {
    x.push_back("events=true");
    return x;
  }

  double first(std::uint64_t version) const {
    for (const auto& x : events)
      if (x["event"] == "version" && x["version"] == version)
        return x["at"];
    ADD_FAILURE() << "no version " << version;
    return 0;
  }

  node::run_summary end;
  std::vector<json> events;
};

} // namespace

TEST(scenario, says_what_happens_to_whom_and_when) {
  const auto x = node::parse_scenario(R"(
[[scene]]
at = 1.5
join = [3, 7]
[[scene]]
version = 20
fail = 4
restart_seconds = 60
)",
                                      "s.toml", 12);
  ASSERT_TRUE(x) << x.error().context;
  ASSERT_EQ(x->size(), 2u);
  EXPECT_EQ(std::get<instant>((*x)[0].when), std::chrono::milliseconds{1500});
  EXPECT_EQ((*x)[0].what, scene::kind::join);
  EXPECT_EQ((*x)[0].last, client_id{7});
  EXPECT_EQ(std::get<version>((*x)[1].when), version{20});
  EXPECT_EQ((*x)[1].first, (*x)[1].last);
  EXPECT_EQ((*x)[1].restart_seconds, 60);
}

TEST(scenario, is_refused_with_the_line_and_what_would_do) {
  EXPECT_EQ(refusal(""), "s.toml: has no [[scene]]; without one there is no "
                         "scenario");
  EXPECT_EQ(refusal("seen = 1"),
            "s.toml:1: 'seen' is no scene; tables [[scene]] would do");
  EXPECT_EQ(refusal("[[scene]]\nat = 1\n"),
            "s.toml:1: a scene needs one of join, leave, drain and fail");
  EXPECT_EQ(refusal("[[scene]]\nat = 1\nversion = 2\njoin = 1\n"),
            "s.toml:1: a scene needs either 'at', in seconds, or 'version'");
  EXPECT_EQ(refusal("[[scene]]\nat = -1\njoin = 1\n"),
            "s.toml:2: 'at' must be seconds of the run, from 0 on");
  EXPECT_EQ(refusal("[[scene]]\nat = 1\nleave = [3, 13]\n"),
            "s.toml:3: a client, or a list of the first and the last one, from "
            "1 to 12 would do");
  EXPECT_EQ(refusal("[[scene]]\nat = 1\nleave = 1\nrestart_seconds = 2\n"),
            "s.toml:4: 'restart_seconds' belongs to 'fail', from 0 on");
  EXPECT_EQ(refusal("[[scene]]\nat = 1\nleave = 1\njoin = 2\n"),
            "s.toml:3: a scene says one thing; make another [[scene]]");
  EXPECT_EQ(refusal("[[scene]]\nat = 1\nleaves = 1\n"),
            "s.toml:3: unknown key 'leaves'; at, version, join, leave, drain, "
            "fail and restart_seconds would do");
  EXPECT_TRUE(refusal("[[scene]\n").starts_with("s.toml:1: "));
}

TEST(life, let_clients_join_and_leave_by_a_scenario) {
  const scratch_folder scratch;
  const auto file = written(scratch.path() + "/s.toml", R"(
[[scene]]
version = 4
join = [9, 12]
[[scene]]
version = 8
leave = [1, 8]
)");
  const lived x{{"mode=fedbuff", "versions=30", "scenario=" + file},
                scratch.path() + "/runs"};
  const auto joined = x.first(4);
  const auto left = x.first(8);
  std::set<std::uint64_t> newcomers;
  for (const auto& event : x.events)
    if (event["event"] == "invited") {
      const double at = event["at"];
      const std::uint64_t client = event["client"];
      if (client >= 9) {
        newcomers.insert(client);
        EXPECT_GE(at, joined);
      } else {
        EXPECT_LE(at, left);
      }
    }
  EXPECT_EQ(newcomers.size(), 4u);
  EXPECT_EQ(x.end.versions, 30u);
}

// Client 12 is there for two fifths of the time.
TEST(life, give_who_is_seldom_there_its_turn_where_that_is_wanted) {
  const scratch_folder scratch;
  std::string record = "client,from,to\n";
  for (int k = 1; k < 12; ++k)
    record += std::to_string(k) + ",0,100000\n";
  for (int i = 0; i < 1000; ++i)
    record +=
      "12," + std::to_string(5 * i) + ',' + std::to_string(5 * i + 2) + '\n';
  const auto times = written(scratch.path() + "/times", record);
  const auto share_of_12 = [&](const std::string& selection) {
    const lived x{{"mode=fedbuff", "versions=600", "concurrency=2",
                   "buffer_size=2", "speed.kind=constant",
                   "availability.kind=trace", "availability.path=" + times,
                   "selection=" + selection},
                  scratch.path() + "/" + selection};
    double all = 0;
    double seldom = 0;
    for (const auto& event : x.events)
      if (event["event"] == "invited") {
        ++all;
        seldom += event["client"] == 12;
      }
    return 12 * seldom / all; // 1: as often as the others.
  };
  EXPECT_LT(share_of_12("uniform"), 0.6);
  EXPECT_GT(share_of_12("least_chosen"), 0.8);
}

TEST(life, wait_for_clients_that_come_back_after_a_failure) {
  const scratch_folder scratch;
  const auto file = written(scratch.path() + "/s.toml", R"(
[[scene]]
version = 2
fail = [1, 12]
restart_seconds = 1000
)");
  for (const auto* mode : {"sync", "semisync", "fedbuff", "fedasync"}) {
    const lived x{under(mode, {"scenario=" + file}),
                  scratch.path() + "/" + mode};
    EXPECT_GE(*x.end.virtual_seconds, 1000) << mode;
  }
}

TEST(life, make_the_way_as_long_as_its_bytes) {
  const scratch_folder scratch;
  const lived near{under("sync"), scratch.path() + "/near"};
  const lived slow{under("sync", {"network.delay=1"}),
                   scratch.path() + "/slow"};
  EXPECT_NEAR(*slow.end.virtual_seconds - *near.end.virtual_seconds, 12, 1e-6);
  EXPECT_EQ(slow.end.digest, near.end.digest) << "rounds wait for all";
  // Five floats, 20 bytes, each way.
  const lived thin{under("sync", {"download=10", "upload=20"}),
                   scratch.path() + "/thin"};
  EXPECT_NEAR(*thin.end.virtual_seconds - *near.end.virtual_seconds, 18, 1e-6);
}

TEST(life, lose_visits_and_end_all_the_same) {
  const scratch_folder scratch;
  for (const auto* mode : {"sync", "semisync", "fedbuff", "fedasync"}) {
    const overrides hard =
      under(mode, {"drop_out=0.3", "availability.kind=windows", "period=5",
                   "availability.share=0.8", "per_hour=300",
                   "restart_seconds=1", "quorum=1", "round_deadline=3"});
    const lived x{hard, scratch.path() + "/a-" + mode};
    const lived again{hard, scratch.path() + "/b-" + mode};
    EXPECT_EQ(x.end.digest, again.end.digest) << mode;
    EXPECT_EQ(x.events, again.events) << mode;
    EXPECT_GT(x.end.versions, 0u) << mode;
  }
}

TEST(life, come_from_files_that_are_named_when_they_are_wrong) {
  const scratch_folder scratch;
  const auto problem_of = [&](overrides changes) {
    const auto done =
      node::run(configured(quadratic_run, changes, scratch.path() + "/runs"),
                {.make_model = no_model});
    return done ? "ran" : done.error().context;
  };
  const auto speeds = written(scratch.path() + "/speeds", "1\n0.5\nfast\n");
  EXPECT_EQ(
    problem_of({"devices.speed.kind=trace", "devices.speed.path=" + speeds}),
    speeds + ":3: 'fast' is no speed; a number above 0 would do");
  EXPECT_EQ(problem_of({"devices.speed.kind=trace",
                        "devices.speed.path=/nowhere/speeds"}),
            "/nowhere/speeds: cannot be read: there is no such file; is the "
            "path right?");
  const auto record = written(scratch.path() + "/times", "client,from,to\n1,2");
  EXPECT_EQ(
    problem_of({"availability.kind=trace", "availability.path=" + record}),
    record
      + ":2: '1,2' is no stretch; a client from 1 on and two times "
        "in seconds, the second one later, would do");
}

} // namespace troupe::test::life_test
