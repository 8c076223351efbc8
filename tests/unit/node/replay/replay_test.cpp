// What a run computed follows from its configuration and its record alone.

#include "node/replay/replay.hpp"

#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "policies/catalogue.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;
using ::testing::HasSubstr;

constexpr std::string_view paces[]{"sync", "semisync", "fedbuff", "fedasync"};

using lines = std::vector<std::string>;

lines read_lines(const fs::path& path) {
  std::ifstream file{path};
  lines all;
  for (std::string line; std::getline(file, line);)
    all.push_back(line);
  return all;
}

void write_lines(const fs::path& path, const lines& all) {
  std::ofstream file{path};
  for (const auto& line : all)
    file << line << '\n';
}

/// The lines, counted from 1, of events of this kind.
std::vector<std::size_t> places_of(std::string_view kind, const lines& all) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (json::parse(all[i])["event"] == kind)
      places.push_back(i + 1);
  return places;
}

class recorded_run : public testing::Test {
protected:
  /// A finished run of which only the record and the configuration are left.
  fs::path record(overrides changes, const std::string& fingerprint = {}) {
    changes.push_back("events=true");
    const auto x = configured(quadratic_run, changes, scratch_.path());
    const auto done =
      node::run(x, {.make_model = no_model, .fingerprint = fingerprint});
    EXPECT_TRUE(done) << done.error().context;
    const fs::path folder{done->folder};
    for (const auto* name : {"versions", "ledger.sqlite", "model.safetensors"})
      fs::remove_all(folder / name);
    return folder;
  }

  result<node::replay_summary> replay(const fs::path& folder,
                                      const std::string& fingerprint = {}) {
    notes_.clear();
    const auto loaded = node::load_config(folder / "config.toml");
    EXPECT_TRUE(loaded) << loaded.error().context;
    return node::replay(loaded->x, folder,
                        {.make_model = no_model,
                         .fingerprint = fingerprint,
                         .note = [&](const auto& x) { notes_.push_back(x); },
                         .show = [](const auto&) {}});
  }

  void expect_equal(const overrides& changes) {
    const auto done = replay(record(changes));
    const auto what = testing::PrintToString(changes);
    ASSERT_TRUE(done) << what << done.error().context;
    const auto& [equal, total, first] = done->digests;
    EXPECT_FALSE(first) << what << done->differs_at << ": " << first->what;
    EXPECT_EQ(equal, total) << what;
    // `local` alone has neither offers nor versions.
    EXPECT_EQ(total == 0, changes[0] == "method=local") << what;
  }

  /// Replays the folder's record after this was done to it.
  result<node::replay_summary>
  replay_changed(const fs::path& folder,
                 const std::function<void(lines&)>& change) {
    auto all = read_lines(folder / "events.jsonl");
    const auto before = all;
    change(all);
    write_lines(folder / "events.jsonl", all);
    auto done = replay(folder);
    write_lines(folder / "events.jsonl", before);
    return done;
  }

  /// One key of one line.
  result<node::replay_summary> replay_with(const fs::path& folder,
                                           std::size_t line, const char* key,
                                           const json& value) {
    return replay_changed(folder, [&](lines& all) {
      auto event = json::parse(all[line - 1]);
      event[key] = value;
      all[line - 1] = event.dump();
    });
  }

  std::string refusal(const result<node::replay_summary>& x) {
    if (x)
      return "accepted";
    EXPECT_EQ(x.error().code, errc::invalid_data);
    return x.error().context;
  }

  scratch_folder scratch_;
  std::vector<std::string> notes_;
};

} // namespace

TEST_F(recorded_run, is_computed_again_to_the_bit_for_every_method_and_pace) {
  for (const auto& method : policies::catalogue())
    for (std::size_t i = 0; i < 4; ++i)
      if (policies::standing_of(method, static_cast<pace_kind>(i))
          != standing::refused)
        expect_equal({"method=" + method.name, "mode=" + std::string{paces[i]},
                      i < 2 ? "rounds=6" : "versions=6", "time_budget=4",
                      "ledger=disk"});
}

TEST_F(recorded_run, is_computed_again_whatever_the_server_does) {
  for (const std::string change :
       {"server.optimiser=momentum", "server.optimiser=adam",
        "server.optimiser=yogi", "merge.rule=median", "merge.rule=krum",
        "clip_norm=0.05", "attack.clients=3", "stragglers=0.5",
        "staleness.kind=hinge", "refill=version", "staleness_max=1",
        "batch_size=2"}) {
    expect_equal({change, "mode=fedbuff", "versions=12", "buffer_size=4",
                  "delta_max=1000"});
  }
  for (const std::string change : {"staleness_max=2", "async_target=delta"})
    expect_equal({change, "mode=fedasync", "versions=40", "concurrency=8"});
}

TEST_F(recorded_run, is_computed_again_where_visits_are_withdrawn) {
  for (const std::string method : {"fedavg", "scaffold", "ditto"})
    for (const std::string clock : {"virtual", "wall"})
      expect_equal({"method=" + method, "clock=" + clock, "rounds=30",
                    "over_selection=2"});
}

TEST_F(recorded_run, is_computed_again_under_the_wall_clock) {
  for (const overrides& change : {overrides{"method=fedavg", "mode=fedbuff"},
                                  overrides{"method=scaffold", "mode=fedbuff"},
                                  overrides{"method=ditto", "mode=fedbuff"},
                                  overrides{"method=fedavg", "mode=fedasync"},
                                  overrides{"method=ditto", "mode=fedasync"}}) {
    overrides all{change[0], change[1], "clock=wall", "versions=200",
                  "concurrency=8"};
    expect_equal(all);
  }
}

TEST_F(recorded_run, is_computed_again_where_clients_come_and_go) {
  const auto scenario = scratch_.path() + "/scenario.toml";
  std::ofstream{scenario} << R"(
[[scene]]
version = 2
leave = [1, 4]
[[scene]]
version = 4
join = [1, 3]
[[scene]]
at = 1.5
fail = [5, 12]
restart_seconds = 0.1
)";
  for (const std::string method : {"fedavg", "scaffold", "ditto"})
    for (const overrides& change :
         {overrides{"mode=fedbuff", "versions=60", "drop_out=0.2"},
          overrides{"mode=fedbuff", "versions=60", "crashes.per_hour=5000",
                    "crashes.restart_seconds=0.2", "staleness_max=1"},
          overrides{"mode=semisync", "rounds=30", "scenario=" + scenario},
          overrides{"mode=sync", "rounds=40", "over_selection=1.5", "quorum=2",
                    "round_deadline=1", "crashes.per_hour=3000"}}) {
      overrides all{"method=" + method};
      all.insert(all.end(), change.begin(), change.end());
      expect_equal(all);
    }
}

TEST_F(recorded_run, is_computed_again_after_it_was_resumed) {
  const auto x = configured(quadratic_run,
                            {"events=true", "ledger=disk", "mode=fedbuff",
                             "versions=150", "snapshot_seconds=0.005"},
                            scratch_.path());
  const auto first = finished(x);
  const auto again =
    node::run(x, {.make_model = no_model, .resume = first.folder});
  ASSERT_TRUE(again) << again.error().context;
  const auto done = replay(first.folder);
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_FALSE(done->digests.first);
  EXPECT_EQ(done->digests.equal, done->digests.total);
}

TEST_F(recorded_run, differs_where_members_of_two_batches_change_places) {
  const auto folder = record({"mode=fedbuff", "versions=8"});
  const auto total = replay(folder)->digests.total;
  const auto swapped = [&](std::size_t one, std::size_t other) {
    std::size_t line = 0;
    const auto done = replay_changed(folder, [&](lines& all) {
      const auto versions = places_of("version", all);
      line = versions[one];
      auto a = json::parse(all[versions[one] - 1]);
      auto b = json::parse(all[versions[other] - 1]);
      std::swap(a["merged"][0], (one == other ? a : b)["merged"][1]);
      all[versions[one] - 1] = a.dump();
      if (one != other)
        all[versions[other] - 1] = b.dump();
    });
    EXPECT_TRUE(done) << done.error().context;
    EXPECT_EQ(done->digests.total, total);
    return std::pair{done->differs_at, line};
  };
  for (std::size_t i = 0; i < 7; ++i) {
    const auto [differs_at, line] = swapped(i, i + 1);
    EXPECT_EQ(differs_at, line);
    EXPECT_EQ(swapped(i, i).first, 0u);
  }
}

TEST_F(recorded_run, differs_where_an_offer_was_another) {
  const auto folder = record({"mode=fedbuff", "versions=8", "stragglers=0.9"});
  const auto all = read_lines(folder / "events.jsonl");
  const auto offered = places_of("offered", all).back();
  const auto whose = [&](std::size_t line) {
    const auto event = json::parse(all[line - 1]);
    return std::pair{event["client"], event["visit"]};
  };
  const auto of_the_same = [&](std::string_view kind) {
    for (const auto line : places_of(kind, all))
      if (whose(line) == whose(offered))
        return line;
    return std::size_t{0};
  };
  const auto version = [&](std::size_t line) {
    return json::parse(all[line - 1])["version"].get<std::uint64_t>();
  };
  const auto fetched = of_the_same("fetched");
  const auto altered = {
    replay_with(folder, fetched, "version", version(fetched) - 1),
    replay_with(folder, of_the_same("invited"), "seed", 7),
    replay_with(folder, offered, "checksum", "0123456789abcdef")};
  for (const auto& done : altered) {
    ASSERT_TRUE(done) << done.error().context;
    ASSERT_TRUE(done->digests.first);
    EXPECT_THAT(done->digests.first->what, HasSubstr("the offer of client"));
    EXPECT_EQ(done->differs_at, offered);
    EXPECT_LT(done->digests.equal, done->digests.total);
  }
}

TEST_F(recorded_run, differs_where_a_digest_or_the_number_of_clients_does) {
  const auto folder = record({"method=scaffold"});
  const auto all = read_lines(folder / "events.jsonl");
  const auto line = places_of("version", all)[2];
  EXPECT_EQ(replay_with(folder, line, "digests", {"x", "y"})->differs_at, line);
  const auto more =
    replay_with(folder, places_of("version", all).front(), "clients", 13);
  EXPECT_EQ(more->differs_at, places_of("version", all).front());
  // Only the control variate is a sum over all clients.
  EXPECT_THAT(more->digests.first->what,
              HasSubstr("version 1 of block 'control"));
}

TEST_F(recorded_run, is_refused_by_line_where_its_record_is_damaged) {
  const auto folder = record({"mode=fedbuff", "versions=4"});
  const auto all = read_lines(folder / "events.jsonl");
  const auto first = [&](std::string_view kind) {
    return places_of(kind, all).front();
  };
  const auto says = [&](std::string_view kind, const char* key,
                        const json& value, const std::string& text) {
    const auto line = first(kind);
    const auto said = refusal(replay_with(folder, line, key, value));
    EXPECT_THAT(said, HasSubstr(text));
    EXPECT_THAT(said, HasSubstr("events.jsonl:" + std::to_string(line) + ":"));
    EXPECT_THAT(said, HasSubstr("would do"));
  };
  says("invited", "event", "inwited", "'event' is \"inwited\"; one of began");
  says("invited", "seed", "x", "'seed' is \"x\"; a whole number");
  says("invited", "seed", -1, "'seed' is -1; a whole number");
  says("invited", "progress", nullptr, "'progress' is null; a number");
  says("invited", "client", 13, "no client 13; 1 to 12");
  says("invited", "role", 1, "no role 1; 0 to 0");
  says("fetched", "line", 2, "no line 2; 1 to 1");
  says("fetched", "version", 1, "version 1 of line 1");
  says("fetched", "visit", 2, "was not invited");
  says("offered", "visit", 2, "been invited");
  says("version", "version", 2, "version 2 of line 1 cannot come here; 1");
  says("version", "merged", {7}, "pairs [client, visit]");
  says("version", "merged", json::array(), "a list that is not empty");
  says("version", "digests", {"a", "b"}, "there are 2 digests; 1");
}

TEST_F(recorded_run, is_refused_by_line_where_lines_are_cut_or_missing) {
  const auto folder = record({"mode=fedbuff", "versions=4"});
  const auto cut = refusal(
    replay_changed(folder, [](lines& all) { all[3] = all[3].substr(0, 20); }));
  EXPECT_THAT(cut, HasSubstr("events.jsonl:4: this is no JSON object"));
  EXPECT_THAT(cut, HasSubstr("found: {\"at\":"));
  const auto without = [&](std::string_view kind) {
    return refusal(replay_changed(folder, [&](lines& all) {
      const auto at = places_of(kind, all).front() - 1;
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
    }));
  };
  EXPECT_THAT(without("invited"), HasSubstr("was not invited"));
  EXPECT_THAT(without("fetched"), HasSubstr("not fetched all"));
  EXPECT_THAT(without("version"), HasSubstr("version 1 of line 1 cannot be"));
  fs::remove(folder / "events.jsonl");
  EXPECT_THAT(refusal(replay(folder)), HasSubstr("cannot be read"));
}

TEST_F(recorded_run, may_end_within_a_line) {
  const auto folder = record({});
  const auto whole = replay(folder)->digests.total;
  EXPECT_TRUE(notes_.empty());
  const auto path = folder / "events.jsonl";
  const auto all = read_lines(path);
  const auto last = places_of("version", all).back();
  write_lines(path, {all.begin(), all.begin() + static_cast<int>(last)});
  fs::resize_file(path, fs::file_size(path) - 9);
  const auto done = replay(folder);
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_FALSE(done->digests.first);
  EXPECT_EQ(done->digests.equal, whole - 1);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_THAT(notes_[0], HasSubstr("cut off"));
}

TEST_F(recorded_run, says_first_that_it_was_recorded_elsewhere) {
  const auto folder = record({}, "cpu avx2");
  EXPECT_TRUE(replay(folder, "cpu avx2"));
  EXPECT_TRUE(notes_.empty());
  // A record whose second line is damaged: nothing was computed before.
  EXPECT_FALSE(replay_changed(folder, [](lines& all) { all[1] = "{"; }));
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_THAT(notes_[0], HasSubstr("'cpu avx2', and here is ''"));
}

} // namespace troupe::test
