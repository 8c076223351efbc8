// The laws of a run, on quadratics: what a run learns is a function of its
// configuration, and of nothing else.

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "models/safetensors.hpp"
#include "node/task/workload.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/any_model.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test::run_test {

namespace {

constexpr std::string_view paces[]{"sync", "semisync", "fedbuff", "fedasync"};

/// All pairs that are not refused; `local` needs a length that it can reach.
std::vector<overrides> all_pairs() {
  std::vector<overrides> pairs;
  for (const auto& method : methods_of_any_model())
    for (std::size_t i = 0; i < 4; ++i)
      if (policies::standing_of(method, static_cast<pace_kind>(i))
          != standing::refused)
        pairs.push_back(
          under(paces[i], of_method(method.name, {"time_budget=4"})));
  return pairs;
}

std::string text_of(const overrides& xs) {
  std::string text;
  for (const auto& x : xs)
    text += x + " ";
  return text;
}

overrides with(overrides xs, const std::string& more) {
  xs.push_back(more);
  return xs;
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream file{path};
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}

class small_run : public ::testing::Test {
protected:
  node::run_summary go(const overrides& changes) {
    return finished(configured(quadratic_run, changes, scratch_.path()));
  }

  std::string digest(const overrides& changes) {
    return go(changes).digest;
  }

  result<node::run_summary> attempt(const overrides& changes) {
    return node::run(configured(quadratic_run, changes, scratch_.path()),
                     {.make_model = no_model});
  }

  scratch_folder scratch_;
};

} // namespace

TEST_F(small_run, learns_the_same_with_one_worker_and_with_two) {
  for (const auto& pair : all_pairs())
    EXPECT_EQ(digest(with(pair, "workers=1")), digest(with(pair, "workers=2")))
      << text_of(pair);
}

TEST_F(small_run, learns_the_same_whether_it_is_evaluated_or_not) {
  for (const auto& pair : all_pairs())
    EXPECT_EQ(digest(with(pair, "evaluate_every=0")),
              digest(with(pair, "evaluate_every=1")))
      << text_of(pair);
}

TEST_F(small_run, learns_the_same_with_either_ledger_and_with_events) {
  for (const auto& pair : all_pairs())
    EXPECT_EQ(digest(pair),
              digest(with(with(pair, "ledger=disk"), "events=true")))
      << text_of(pair);
}

TEST_F(small_run, learns_the_same_under_the_wall_clock_in_full_rounds) {
  for (const auto& method : methods_of_any_model()) {
    const auto changes = of_method(method.name);
    EXPECT_EQ(digest(with(changes, "clock=wall")), digest(changes))
      << method.name;
  }
}

TEST_F(small_run, learns_something_else_from_another_seed_method_or_pace) {
  std::set<std::string> digests{
    digest({}), digest({"seed=2"}), digest({"method=ditto"}),
    digest(under("fedbuff")), digest(under("fedasync"))};
  // Ditto's shared model is FedAvg's where all clients hold as much.
  EXPECT_EQ(digests.size(), 4u);
}

TEST_F(small_run, is_repeated_by_the_configuration_in_its_folder) {
  for (const auto& pair : all_pairs()) {
    const auto first = go(pair);
    auto again = node::load_config(first.folder + "/config.toml");
    ASSERT_TRUE(again) << again.error().context;
    const auto second = finished(again->x);
    EXPECT_EQ(second.digest, first.digest) << text_of(pair);
    EXPECT_NE(second.folder, first.folder);
  }
}

TEST_F(small_run, of_buffers_that_hold_a_cohort_is_that_of_rounds) {
  for (const std::string method : {"fedavg", "fedprox", "ditto"})
    EXPECT_EQ(digest(under("fedbuff", {"method=" + method, "buffer_size=4",
                                       "concurrency=4", "refill=version"})),
              digest({"method=" + method}))
      << method;
}

TEST_F(small_run, counts_what_happened) {
  const auto x = go({});
  EXPECT_EQ(x.versions, 6u);
  EXPECT_EQ(x.heads, (std::map<std::string, std::uint64_t>{{"model", 6}}));
  EXPECT_EQ(x.rounds, 6u);
  EXPECT_EQ(x.visits, 24u);
  EXPECT_GT(x.bytes_up, 24u * 5 * 4);
  EXPECT_GT(x.bytes_down, 24u * 5 * 4);
  EXPECT_FALSE(x.accuracy); // A quadratic has no labels.
  EXPECT_GT(x.loss, 0);
  // Five steps of 10 ms on a device of the slowest tenth take at most half a
  // second.
  EXPECT_GT(x.virtual_seconds, 6 * 0.05);
  EXPECT_LT(x.virtual_seconds, 6 * 0.5);
  EXPECT_EQ(go({"method=local"}).rounds, 6u);
}

TEST_F(small_run, says_once_what_is_odd_about_its_texts) {
  const auto x = configured(quadratic_run, {}, scratch_.path());
  auto work = node::prepare(x, no_model);
  ASSERT_TRUE(work) << work.error().context;
  work->remark = "so and so";
  std::ostringstream shown;
  const auto done =
    node::run(x, {.make_model = no_model, .progress = &shown, .work = &*work});
  ASSERT_TRUE(done) << done.error().context;
  const auto text = shown.str();
  const auto at = text.find("\nso and so\n");
  ASSERT_NE(at, text.npos) << "nothing is said of texts: " << text;
  EXPECT_EQ(text.find("so and so", at + 2), text.npos);
}

TEST_F(small_run, says_once_what_is_left_out_of_its_texts) {
  const auto x = configured(quadratic_run, {}, scratch_.path());
  auto work = node::prepare(x, no_model);
  ASSERT_TRUE(work) << work.error().context;
  work->left_out = node::texts_left_out{.paragraphs = 2};
  std::ostringstream shown;
  const auto done =
    node::run(x, {.make_model = no_model, .progress = &shown, .work = &*work});
  ASSERT_TRUE(done) << done.error().context;
  const std::string line = "\n2 repeated paragraphs are left out of ";
  const auto text = shown.str();
  const auto at = text.find(line);
  ASSERT_NE(at, text.npos) << "nothing is said of texts: " << text;
  EXPECT_EQ(text.find(line, at + 1), text.npos);
  const auto summary = to_long_json(*done);
  EXPECT_EQ(summary.find("texts_left_out")->dump(),
            R"({"paragraphs":2,"texts":0,"rows":0})");
}

TEST_F(small_run, names_the_users_and_labels_of_its_texts) {
  const auto x = configured(quadratic_run, {}, scratch_.path());
  auto work = node::prepare(x, no_model);
  ASSERT_TRUE(work) << work.error().context;
  work->user_names = {"ana", "ben"};
  work->label_names = {"b", "a"};
  std::ostringstream shown;
  const auto done =
    node::run(x, {.make_model = no_model, .progress = &shown, .work = &*work});
  ASSERT_TRUE(done) << done.error().context;
  const auto named = to_long_json(*done);
  EXPECT_EQ(named.find("users")->dump(), R"(["ana","ben"])");
  EXPECT_EQ(named.find("labels")->dump(), R"(["b","a"])");
  const auto nameless = to_long_json(go({}));
  EXPECT_EQ(nameless.find("users")->dump(), "null");
  EXPECT_EQ(nameless.find("labels")->dump(), "null");
}

TEST_F(small_run, ends_with_exactly_the_keys_that_programs_read) {
  const auto object = nlohmann::ordered_json::parse(to_json(go({})).dump());
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items())
    keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"success",
                                            "mode",
                                            "method",
                                            "clock",
                                            "versions",
                                            "heads",
                                            "values",
                                            "rounds",
                                            "visits",
                                            "accuracy",
                                            "accuracy_is_of",
                                            "loss",
                                            "per_client",
                                            "zero_shot",
                                            "failures",
                                            "evaluations_left_out",
                                            "digest",
                                            "bytes_up",
                                            "bytes_down",
                                            "wall_seconds",
                                            "virtual_seconds",
                                            "cpu_seconds",
                                            "peak_memory_bytes",
                                            "folder",
                                            "method_results",
                                            "rows_embedded",
                                            "zero_shot_bytes_down",
                                            "zero_shot_bytes_up",
                                            "perplexity",
                                            "clients_perplexity",
                                            "clients_loss"}));
  EXPECT_EQ(object["success"], true);
  EXPECT_EQ(object["accuracy"], nullptr);
  auto unlimited = to_json(go(under("fedbuff")));
  EXPECT_EQ(unlimited["rounds"].dump(), "null");
}

TEST_F(small_run, leaves_a_record_per_version_and_evaluation) {
  const auto x = go({"events=true"});
  std::vector<std::string> kinds;
  for (const auto& line : lines_of(x.folder + "/metrics.jsonl"))
    kinds.push_back(
      nlohmann::json::parse(line)["kind"].get<std::string>().substr(0, 1));
  // Every second version is scored, and the last one once more at home.
  EXPECT_EQ(kinds, (std::vector<std::string>{"v", "v", "e", "v", "v", "e", "v",
                                             "v", "e", "e"}));
  const auto events = lines_of(x.folder + "/events.jsonl");
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(nlohmann::json::parse(events.back())["event"], "finished");
  const auto summary =
    nlohmann::json::parse(std::ifstream{x.folder + "/summary.json"});
  EXPECT_EQ(summary["digest"], x.digest);
}

TEST_F(small_run, can_begin_where_another_ended) {
  const auto first = go({});
  const auto path = first.folder + "/model.safetensors";
  const auto file = models::read_safetensors(path);
  ASSERT_TRUE(file) << file.error().context;
  const auto next =
    node::prepare(configured(quadratic_run, {"init=" + path}, ""), no_model);
  ASSERT_TRUE(next) << next.error().context;
  EXPECT_EQ(*next->initial.at({1}), file->values);
  EXPECT_NE(digest({"init=" + path}), first.digest);
}

TEST_F(small_run, of_several_models_begins_each_where_it_ended) {
  const auto path = go({"method=ifca"}).folder + "/model.safetensors";
  const auto file = models::read_safetensors(path);
  ASSERT_TRUE(file) << file.error().context;
  const auto next = node::prepare(
    configured(quadratic_run, {"method=ifca", "init=" + path}, ""), no_model);
  ASSERT_TRUE(next) << next.error().context;
  std::vector<float> all;
  for (const auto& [id, values] : next->initial)
    all.insert(all.end(), values->begin(), values->end());
  EXPECT_EQ(all, file->values);
  // All begin as one model where the file has only that.
  const auto one = go({}).folder + "/model.safetensors";
  const auto begun = [&](const std::string& method) {
    return node::prepare(
      configured(quadratic_run, {"method=" + method, "init=" + one}, ""),
      no_model);
  };
  const auto same = begun("ensemble_optimal");
  ASSERT_TRUE(same) << same.error().context;
  EXPECT_EQ(*same->initial.at({1}), *same->initial.at({2}));
  EXPECT_FALSE(begun("ifca")) << "equal models never part";
}

TEST_F(small_run, says_that_it_stands_still) {
  // Every client waits for the verdict on its offer, and too few are left to
  // fill a buffer.
  const auto x =
    attempt(under("fedbuff", {"method=scaffold", "buffer_size=100"}));
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE(x->failed);
  EXPECT_NE(x->reason.find("stands still"), std::string::npos) << x->reason;
  EXPECT_EQ(x->visits, 12u);
}

TEST_F(small_run, that_diverges_fails_and_names_the_block) {
  for (const auto mode : {"sync", "fedbuff"}) {
    const auto x = attempt(under(mode, {"learning_rate=1e12"}));
    ASSERT_TRUE(x) << x.error().context;
    EXPECT_TRUE(x->failed);
    EXPECT_NE(x->reason.find("'model'"), std::string::npos) << x->reason;
  }
}

TEST_F(small_run, whose_offers_are_all_refused_fails) {
  for (const auto* mode : {"sync", "fedbuff"}) {
    const auto x = attempt(under(
      mode, {"merge.clip_norm=1e-3", "attack.scale=-10", "attack.clients=12",
             "round_deadline=10", "time_budget=100"}));
    ASSERT_TRUE(x) << x.error().context;
    EXPECT_TRUE(x->failed);
    EXPECT_EQ(x->versions, 0u);
    EXPECT_NE(x->reason.find("whose offer was malformed"), std::string::npos)
      << x->reason;
  }
}

TEST_F(small_run, ends_in_order_when_it_is_asked_to) {
  const std::atomic<bool> stop{true};
  for (const auto clock : {"virtual", "wall"}) {
    const auto x =
      node::run(configured(quadratic_run,
                           {"rounds=1000000", std::string{"clock="} + clock},
                           scratch_.path()),
                {.make_model = no_model, .stop = &stop});
    ASSERT_TRUE(x) << x.error().context;
    EXPECT_FALSE(x->failed);
    EXPECT_TRUE(x->interrupted);
    EXPECT_TRUE(std::filesystem::exists(x->folder + "/model.safetensors"));
  }
}

TEST_F(small_run, refuses_what_its_data_cannot_do_or_is_not_built) {
  const auto refusal = [&](const overrides& changes) {
    const auto x = attempt(changes);
    return x ? std::string{} : x.error().context;
  };
  EXPECT_NE(refusal({"stop.metric=loss", "stop.patience=2"}).find("validation"),
            std::string::npos);
  EXPECT_NE(refusal({"init=/nowhere.safetensors"}).find("/nowhere.safetensors"),
            std::string::npos);
}

// They wait on disk, and nothing of them stays there.
TEST_F(small_run, learns_the_same_of_durable_offers) {
  const auto with_wall = [&](const std::string& durability) {
    return go({"clock=wall", "ledger=disk", "durability=" + durability,
               "clients_per_round=12"});
  };
  const auto durable = with_wall("offer");
  EXPECT_EQ(durable.digest, with_wall("version").digest);
  const auto arrivals = std::filesystem::path{durable.folder} / "arrivals";
  EXPECT_TRUE(std::filesystem::exists(arrivals));
  EXPECT_TRUE(std::filesystem::is_empty(arrivals));
}

TEST_F(small_run, merges_by_the_rule_that_the_configuration_names) {
  const overrides attacked{"attack.clients=2", "attack.scale=-10",
                           "delta_max=1000", "clients_per_round=12",
                           "rounds=30"};
  const auto calm = go({"clients_per_round=12", "rounds=30"}).loss;
  const auto mean = go(attacked).loss;
  const auto median = go(with(attacked, "merge.rule=median")).loss;
  EXPECT_GT(*mean, 10 * *calm);
  EXPECT_LT(*median, 3 * *calm);
}

// Targets are no labels: nobody has an accuracy.
TEST_F(small_run, says_what_strangers_cost_where_they_are_scored) {
  const auto x = go({"held_out=5", "rounds=2"});
  EXPECT_FALSE(x.held_out);
  EXPECT_FALSE(x.zero_shot_bytes_down) << "nobody was scored";
  EXPECT_FALSE(x.zero_shot_bytes_up);
}

TEST_F(small_run, never_invites_who_is_held_out) {
  const auto x = go({"held_out=5", "rounds=10", "events=true"});
  std::set<std::uint64_t> invited;
  for (const auto& line : lines_of(x.folder + "/events.jsonl")) {
    const auto event = nlohmann::json::parse(line);
    if (event["event"] == "invited")
      invited.insert(event["client"].get<std::uint64_t>());
  }
  EXPECT_EQ(invited, (std::set<std::uint64_t>{1, 2, 3, 4, 5, 6, 7}));
}

} // namespace troupe::test::run_test
