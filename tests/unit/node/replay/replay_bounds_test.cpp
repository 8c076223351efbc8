// A replay says so where a record is damaged, ends before its run did, or is of
// what the configuration does not allow.

#include "actors/record/sqlite.hpp"
#include "tests/support/recorded_runs.hpp"

namespace troupe::test {

TEST_F(recorded_run, is_refused_by_line_where_its_record_is_damaged) {
  const auto folder = record({"mode=fedbuff", "versions=4"});
  const auto all = read_lines(folder / "events.jsonl");
  const auto first = [&](std::string_view kind) {
    return places_of(kind, all).front();
  };
  const auto says = [&](std::string_view kind, const char* key,
                        const ordered_json& value, const std::string& text) {
    const auto line = first(kind);
    const auto said = refusal(replay_with(folder, line, key, value));
    EXPECT_THAT(said, HasSubstr(text));
    EXPECT_THAT(said, HasSubstr("events.jsonl:" + std::to_string(line) + ":"));
  };
  says("invited", "event", "inwited", "'event' is \"inwited\"; one of began");
  says("invited", "seed", "x", "'seed' is \"x\"; a whole number");
  says("invited", "seed", 7, "has the seed 7; invitation 1 of this run has");
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
  says("version", "merged", ordered_json::array(), "a list that is not empty");
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
  fs::remove(folder / "summary.json"); // Of a run that was killed.
  const auto path = folder / "events.jsonl";
  const auto all = read_lines(path);
  const auto last = places_of("version", all).back();
  write_lines(path, {all.begin(), all.begin() + static_cast<int>(last)});
  fs::resize_file(path, fs::file_size(path) - 9);
  const auto done = replay(folder);
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_FALSE(done->digests.first);
  EXPECT_FALSE(done->ended);
  EXPECT_EQ(done->digests.equal, whole - 1);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_THAT(notes_[0], HasSubstr("cut off"));
}

// What was computed again is all that there was.
TEST_F(recorded_run, reaches_the_end_that_the_run_had) {
  const auto folder = record({"mode=fedbuff", "versions=8"});
  EXPECT_TRUE(replay(folder)->ended);
  const auto half =
    replay_changed(folder, [](lines& all) { all.resize(all.size() / 2); });
  ASSERT_TRUE(half && half->digests.first);
  EXPECT_EQ(half->digests.equal, half->digests.total);
  EXPECT_EQ(half->digests.first->what, "the end of the record");
  EXPECT_THAT(refusal(replay_changed(folder, [](lines& all) { all.clear(); })),
              HasSubstr("holds no event"));
  const auto last_version_removed = [](lines& all) {
    const auto last = places_of("version", all).back() - 1;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(last));
  };
  EXPECT_THAT(refusal(replay_changed(folder, last_version_removed)),
              HasSubstr("the run ended with version 8 of line 1"));
  const auto without = replay_changed(folder, [&](lines& all) {
    last_version_removed(all);
    auto& text = all[places_of("finished", all).back() - 1];
    auto end = ordered_json::parse(text); // As records of before said it.
    end.erase("heads");
    text = end.dump();
  });
  ASSERT_TRUE(without && without->digests.first);
  EXPECT_EQ(without->differs_in, "summary.json");
  EXPECT_EQ(without->digests.first->what, "the digest of the run");
}

// The last version never was, and its visits came too late: by no pace.
TEST_F(recorded_run, has_no_offers_that_only_say_to_be_too_stale) {
  const auto forged = [](lines& all) {
    const auto last = places_of("version", all).back() - 1;
    const auto merged = ordered_json::parse(all[last])["merged"];
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(last));
    for (const auto& visit : merged)
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(last),
                 ordered_json{{"at", 0},
                              {"event", "refused"},
                              {"client", visit[0]},
                              {"visit", visit[1]},
                              {"line", 1},
                              {"verdict", "too_stale"}}
                   .dump());
  };
  for (const overrides& pace : {overrides{"mode=fedbuff", "versions=8"},
                                overrides{"mode=sync", "rounds=8"},
                                overrides{"mode=semisync", "rounds=8"}})
    EXPECT_THAT(refusal(replay_changed(record(pace), forged)),
                HasSubstr("refused as too stale; the configuration allows"))
      << pace.front();
}

TEST_F(recorded_run, ends_where_its_ledger_does) {
  const auto done = finished(
    configured(quadratic_run, {"events=true", "ledger=disk"}, scratch_.path()));
  EXPECT_FALSE(replay(done.folder)->digests.first);
  EXPECT_TRUE(notes_.empty());
  // Also where nobody says how the run ended, and half of the record is gone.
  fs::rename(done.folder + "/summary.json", done.folder + "/kept.json");
  const auto half = replay_changed(done.folder, [](lines& all) {
    const auto last = places_of("version", all)[2];
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(last), all.end());
  });
  ASSERT_TRUE(half && half->digests.first);
  EXPECT_EQ(half->differs_in, "ledger.sqlite");
  fs::rename(done.folder + "/kept.json", done.folder + "/summary.json");
  {
    auto ledger =
      actors::sqlite::database::open(done.folder + "/ledger.sqlite", {});
    ASSERT_TRUE(ledger);
    (*ledger)->run("UPDATE lines SET head = head + 1");
  }
  const auto other = replay(done.folder);
  ASSERT_TRUE(other && other->digests.first);
  EXPECT_EQ(other->differs_in, "ledger.sqlite");
  std::ofstream{done.folder + "/ledger.sqlite"} << "no ledger";
  EXPECT_FALSE(replay(done.folder)->digests.first);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_THAT(notes_[0], HasSubstr("no ledger here"));
}

// Such a run goes on: that its record has no end is no difference.
TEST_F(recorded_run, has_no_end_where_it_was_interrupted) {
  const auto run = finished(
    configured(quadratic_run, {"events=true", "ledger=disk"}, scratch_.path()));
  const auto total = replay(run.folder)->digests.total;
  ordered_json summary;
  {
    std::ifstream file{run.folder + "/summary.json"};
    file >> summary;
  }
  summary["interrupted"] = true;
  std::ofstream{run.folder + "/summary.json"} << summary.dump();
  const auto whole = replay_changed(run.folder, [](lines& all) {
    all.resize(places_of("finished", all).front() - 1);
  });
  ASSERT_TRUE(whole) << whole.error().context;
  EXPECT_FALSE(whole->digests.first) << whole->digests.first->what;
  EXPECT_EQ(whole->digests.equal, total);
  EXPECT_EQ(whole->digests.total, total);
  EXPECT_FALSE(whole->ended);
  EXPECT_TRUE(whole->interrupted);
  // But all that is durable stands there.
  const auto half =
    replay_changed(run.folder, [](lines& all) { all.resize(all.size() / 2); });
  ASSERT_TRUE(half && half->digests.first);
  EXPECT_EQ(half->differs_in, "ledger.sqlite");
}

TEST_F(recorded_run, holds_batches_to_the_configuration) {
  const auto buffered = record({"mode=fedbuff", "versions=8"});
  const auto all = read_lines(buffered / "events.jsonl");
  const auto some = places_of("version", all)[3];
  auto fewer = ordered_json::parse(all[some - 1])["merged"];
  fewer.erase(0);
  EXPECT_THAT(refusal(replay_with(buffered, some, "merged", fewer)),
              HasSubstr("a version of 2 offers; the configuration makes them "
                        "of 3"));
  // A configuration that allows less staleness than there was.
  auto lazy = record(
    {"mode=fedbuff", "versions=40", "concurrency=12", "staleness_max=16"});
  auto text = read_lines(lazy / "config.toml");
  for (auto& line : text)
    if (line.starts_with("staleness_max"))
      line = "staleness_max = 0";
  write_lines(lazy / "config.toml", text);
  EXPECT_THAT(refusal(replay(lazy)), HasSubstr("versions behind; the "
                                               "configuration allows 0"));
  const auto rounds = record({});
  const auto closed =
    places_of("round_closed", read_lines(rounds / "events.jsonl"))[2];
  EXPECT_THAT(refusal(replay_with(rounds, closed, "round", 77)),
              HasSubstr("round 3, which was not closed"));
  EXPECT_THAT(refusal(replay_with(rounds, closed, "visits",
                                  ordered_json::array({{1, 9}}))),
              HasSubstr("which round 3 does not name"));
}

// Its line may have begun with the list as it was.
TEST_F(recorded_run, may_hold_what_a_list_named_before_it_was_struck) {
  const auto folder = record({});
  const auto done = replay_changed(folder, [](lines& all) {
    const auto closed = places_of("round_closed", all)[2];
    auto again = ordered_json::parse(all[closed - 1]);
    again["visits"].erase(0);
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(closed), again.dump());
  });
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_FALSE(done->digests.first);
}

// Of its visits, other lines have their parts.
TEST_F(recorded_run, may_leave_out_what_its_list_names_no_more) {
  const auto folder = record({});
  const auto made =
    places_of("version", read_lines(folder / "events.jsonl"))[2];
  const auto without_one = [&](bool says_parts) {
    return replay_changed(folder, [&](lines& all) {
      auto version = ordered_json::parse(all[made - 1]);
      const auto visit = version["merged"][0];
      version["merged"].erase(0);
      all[made - 1] = version.dump();
      const auto closed = places_of("round_closed", all)[2];
      auto list = ordered_json::parse(all[closed - 1]);
      const auto listed = list["visits"];
      for (const auto& x : listed)
        if (says_parts && x != visit)
          list["parts"].push_back(
            ordered_json::array({x[0], x[1], version["line"]}));
      all[closed - 1] = list.dump();
    });
  };
  EXPECT_THAT(refusal(without_one(false)), HasSubstr("a version leaves out"));
  const auto done = without_one(true);
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_TRUE(done->digests.first) << "it was merged";
}

} // namespace troupe::test
