// What a run says of its models: of all lines at one instant, and of what
// clients use themselves.

#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/support/any_model.hpp"
#include "tests/support/torch_runs.hpp"

namespace troupe::test {

namespace {

class evaluations : public torch_run {
protected:
  /// The evaluations that a run has written down.
  std::vector<nlohmann::json> made_by(const node::run_summary& x) {
    std::vector<nlohmann::json> all;
    std::ifstream lines{x.folder + "/metrics.jsonl"};
    for (std::string line; std::getline(lines, line);)
      if (auto read = nlohmann::json::parse(line); read["kind"] == "evaluation")
        all.push_back(std::move(read));
    return all;
  }

  /// What this method does not refuse.
  std::vector<overrides> paces_of(const recipe& method) {
    std::vector<overrides> all;
    for (const auto* mode : {"sync", "semisync", "fedbuff", "fedasync"}) {
      auto changes = small(method);
      changes.emplace_back("mode=" + std::string{mode});
      if (std::string_view{mode}.starts_with("fed")) {
        changes.emplace_back("rounds=0");
        changes.emplace_back("versions=6");
      }
      if (node::parse_config({synthetic_run, "small.toml"}, changes))
        all.push_back(std::move(changes));
    }
    return all;
  }
};

} // namespace

// Lines have their versions one after the other, and for a moment some are
// behind: nobody uses such a model.
TEST_F(evaluations, are_of_all_lines_at_one_instant) {
  std::size_t compared = 0;
  for (const auto& method : methods_of_any_model()) {
    if (!method.offers)
      continue;
    for (const auto& changes : paces_of(method)) {
      const auto what = method.name + " " + changes[changes.size() - 1];
      const auto all = made_by(go(changes));
      ASSERT_GE(all.size(), 2u) << what;
      auto last = all[all.size() - 1], before = all[all.size() - 2];
      if (before["at"] != last["at"])
        continue; // Lines without a lead end one after the other.
      last.erase("client_accuracies");
      if (!before.contains("per_client"))
        for (const auto* key : {"per_client", "method_results"})
          last.erase(key);
      EXPECT_EQ(before, last) << what;
      ++compared;
    }
  }
  EXPECT_GT(compared, 50u);
}

TEST_F(evaluations, are_by_client_where_clients_have_a_part_of_their_own) {
  for (const auto& method : methods_of_any_model()) {
    if (!method.offers)
      continue;
    auto changes = small(method);
    changes.insert(changes.end(), {"rounds=4", "learning_rate=0.2"});
    const auto all = made_by(go(changes));
    for (const auto& x : std::span{all}.first(all.size() - 1))
      EXPECT_EQ(x.contains("per_client"), method.personal) << method.name;
    for (const auto& x : all)
      EXPECT_FALSE(x.contains("round")) << "versions count: " << method.name;
  }
}

// Of these no version ever comes.
TEST_F(evaluations, are_of_rounds_where_nothing_is_merged) {
  std::size_t compared = 0;
  for (const auto& method : methods_of_any_model()) {
    if (method.offers)
      continue;
    for (const auto* mode : {"sync", "semisync"}) {
      auto changes = small(method);
      changes.insert(changes.end(), {"mode=" + std::string{mode}, "rounds=20",
                                     "evaluate_every=5", "learning_rate=0.2"});
      const auto x = go(changes);
      EXPECT_EQ(x.versions, 0u);
      std::vector<std::uint64_t> rounds;
      for (const auto& line : made_by(x))
        rounds.push_back(line.value("round", std::uint64_t{0}));
      // And one in the end.
      EXPECT_EQ(rounds, (std::vector<std::uint64_t>{5, 10, 15, 20, 20}))
        << method.name << " " << mode;
      ++compared;
    }
  }
  EXPECT_GE(compared, 2u);
}

// Who learns alone is worth another thing each time.
TEST_F(evaluations, of_rounds_follow_what_clients_learn) {
  const auto all = made_by(go({"method=local", "rounds=20", "evaluate_every=5",
                               "clients_per_round=8", "learning_rate=0.2"}));
  ASSERT_EQ(all.size(), 5u);
  EXPECT_NE(all[0]["per_client"], all[3]["per_client"]);
  EXPECT_EQ(all[3]["per_client"], all[4]["per_client"]);
}

// There, as many visits are a round as would have made a version.
TEST_F(evaluations, are_of_visits_where_there_are_no_rounds_either) {
  for (const std::string mode : {"fedbuff", "fedasync"}) {
    const auto x = go({"method=local", "mode=" + mode, "rounds=0",
                       "time_budget=20", "concurrency=3", "evaluate_every=2"});
    std::vector<std::uint64_t> rounds;
    for (const auto& line : made_by(x))
      rounds.push_back(line.value("round", std::uint64_t{0}));
    ASSERT_GT(rounds.size(), 3u) << mode;
    const auto last = rounds.back();
    rounds.pop_back();
    for (const auto round : rounds)
      EXPECT_EQ(round % 2, 0u) << mode;
    EXPECT_LT(rounds.front(), rounds.back()) << mode;
    EXPECT_GE(last, rounds.back()) << mode;
    const auto most = x.visits / (mode == "fedbuff" ? 3 : 1);
    EXPECT_LE(last, most) << mode;
    EXPECT_LE(most, last + 1) << mode;
    EXPECT_FALSE(x.rounds) << mode;
  }
}

// A recipe says so itself; here it is seen.
TEST_F(evaluations, of_a_newcomer_are_others_only_where_the_recipe_says_so) {
  for (const auto& method : methods_of_any_model()) {
    auto changes = small(method);
    changes.insert(changes.end(), {"rounds=4", "learning_rate=0.2"});
    auto x = described(changes);
    const auto files = std::make_shared<actors::memory_vault>();
    const auto make = node::models_by(*troupe_torch());
    const auto done = node::run(x, {.make_model = make, .files = files});
    ASSERT_TRUE(done) << method.name << ": " << done.error().context;
    const auto work = node::prepare(x, make);
    ASSERT_TRUE(work) << work.error().context;
    const auto trainer = work->make_trainer();
    ASSERT_TRUE(trainer) << trainer.error().context;
    models::evaluation_input at_home{
      .versions = {}, .per_client = true, .states = files->states()};
    for (const auto& [id, values] : work->initial)
      at_home.versions.push_back({.block = id, .base = {}, .values = values});
    auto bare = at_home;
    bare.states.clear();
    const auto own = (*trainer)->evaluate(at_home);
    const auto none = (*trainer)->evaluate(bare);
    ASSERT_TRUE(own && none) << method.name;
    bool differs = false;
    for (const auto& [client, scored] : own->per_client)
      differs |= scored.loss != none->per_client.at(client).loss;
    EXPECT_LE(differs, method.personal) << method.name;
  }
}

TEST_F(evaluations, of_clients_can_end_a_run) {
  const overrides few{"method=fedrep", "rounds=200", "clients_per_round=8",
                      "learning_rate=0.2"};
  const auto after = [&](overrides more) {
    more.insert(more.begin(), few.begin(), few.end());
    return go(more);
  };
  const auto mean = after({"stop.metric=per_client.mean", "stop.target=0.5"});
  EXPECT_LT(mean.versions, 200u);
  ASSERT_TRUE(mean.best);
  EXPECT_GE(mean.best->metric, 0.5);
  const auto worst = after({"stop.metric=per_client.worst", "stop.patience=3"});
  EXPECT_LT(worst.versions, 200u);
  EXPECT_LT(worst.best->metric, mean.best->metric);
  // What nobody uses ends nothing.
  for (const std::string metric : {"accuracy", "loss"}) {
    const auto x = node::parse_config(
      {synthetic_run, "small.toml"},
      overrides{"method=fedrep", "stop.metric=" + metric, "stop.patience=3"});
    ASSERT_FALSE(x);
    EXPECT_NE(x.error().context.find("per_client.mean"), std::string::npos);
  }
}

// Under the wall clock versions may come faster than they can be scored.
TEST_F(evaluations, that_are_left_out_are_counted) {
  const auto x = go({"clock=wall", "mode=fedbuff", "rounds=0", "versions=400",
                     "buffer_size=1", "local_steps=1", "model.hidden=[200]"});
  const auto made = made_by(x).size() - 1; // And one in the end.
  EXPECT_EQ(made + x.evaluations_left_out, x.versions);
  EXPECT_GT(x.evaluations_left_out, 0u) << "all of them waited";
}

} // namespace troupe::test
