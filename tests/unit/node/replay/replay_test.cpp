// What a run computed follows from its configuration and its record alone.

#include "policies/catalogue.hpp"
#include "tests/support/any_model.hpp"
#include "tests/support/recorded_runs.hpp"

namespace troupe::test::replay_test {

namespace {

constexpr std::string_view paces[]{"sync", "semisync", "fedbuff", "fedasync"};

} // namespace

TEST_F(recorded_run, is_computed_again_to_the_bit_for_every_method_and_pace) {
  for (const auto& method : methods_of_any_model())
    for (std::size_t i = 0; i < 4; ++i)
      if (policies::standing_of(method, static_cast<pace_kind>(i))
          != standing::refused)
        expect_equal(of_method(method.name, {"mode=" + std::string{paces[i]},
                                             i < 2 ? "rounds=6" : "versions=6",
                                             "time_budget=4", "ledger=disk"}));
}

// Else the law above would see anchors alone, who ask for nobody.
TEST_F(recorded_run, of_experts_on_request_has_anchors_and_requests) {
  std::size_t silent = 0;
  std::size_t asking = 0;
  for (const auto& line :
       read_lines(record(of_method("ddome")) / "events.jsonl")) {
    const auto event = ordered_json::parse(line);
    if (event["event"] == "offered")
      ++(event.contains("disclosed") ? asking : silent);
  }
  // One of four in each of six rounds is an anchor.
  EXPECT_EQ(silent, 6u);
  EXPECT_EQ(asking, 18u);
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
  expect_equal(of_method(
    "ddome", {"mode=fedbuff", "clock=wall", "versions=60", "concurrency=4"}));
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
  fs::remove(first.folder + "/summary.json"); // As if it had been killed.
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
      auto a = ordered_json::parse(all[versions[one] - 1]);
      auto b = ordered_json::parse(all[versions[other] - 1]);
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
    const auto event = ordered_json::parse(all[line - 1]);
    return std::pair{event["client"], event["visit"]};
  };
  const auto of_the_same = [&](std::string_view kind) {
    for (const auto line : places_of(kind, all))
      if (whose(line) == whose(offered))
        return line;
    return std::size_t{0};
  };
  const auto version = [&](std::size_t line) {
    return ordered_json::parse(all[line - 1])["version"].get<std::uint64_t>();
  };
  const auto fetched = of_the_same("fetched");
  const auto altered = {
    replay_with(folder, fetched, "version", version(fetched) - 1),
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

TEST_F(recorded_run, says_first_that_it_was_recorded_elsewhere) {
  const auto folder = record({}, "cpu avx2");
  EXPECT_TRUE(replay(folder, "cpu avx2"));
  EXPECT_TRUE(notes_.empty());
  // A record whose second line is damaged: nothing was computed before.
  EXPECT_FALSE(replay_changed(folder, [](lines& all) { all[1] = "{"; }));
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_THAT(notes_[0], HasSubstr("'cpu avx2', and here is ''"));
}

} // namespace troupe::test::replay_test
