// What is compared where nothing was sent.

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "models/files.hpp"
#include "node/commands/replay.hpp"
#include "tests/support/recorded_runs.hpp"

namespace troupe::test::last_scores_test {

namespace {

std::string example() {
  std::ifstream file{TROUPE_SOURCE_DIR
                     "/deploy/examples/floral/synthetic_linear.toml"};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class lonely_run : public recorded_run {
protected:
  /// Of clients that learn by themselves, over a task that each is scored on.
  fs::path alone(overrides changes) {
    changes.insert(changes.begin(), {"method=local", "rounds=4",
                                     "evaluate_every=2", "events=true"});
    const auto done = node::run(
      configured(example(), changes, scratch_.path()),
      {.make_model = no_model, .fingerprint = [] { return std::string{}; }});
    EXPECT_TRUE(done) << done.error().context;
    return done->folder;
  }

  /// What the command says, and its exit code.
  int say(const fs::path& folder, std::vector<std::string> more = {}) {
    more.insert(more.begin(), folder.string());
    std::ostringstream out;
    std::ostringstream err;
    const auto code =
      node::replay_command(no_model, {}, more, {.out = out, .err = err});
    said_ = out.str() + err.str();
    return static_cast<int>(code);
  }

  static void replace_in(const fs::path& path, const std::string& key,
                         const ordered_json& value) {
    std::ifstream file{path};
    auto all = ordered_json::parse(file);
    all[key] = value;
    std::ofstream{path} << all.dump();
  }

  std::string said_;
};

} // namespace

TEST_F(lonely_run, is_held_to_what_clients_are_worth_at_its_end) {
  const auto folder = alone({});
  const auto done = replay(folder);
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_EQ(done->digests.total, 0u);
  EXPECT_GT(done->scores.total, 0u);
  EXPECT_EQ(done->scores.equal, done->scores.total);
  EXPECT_FALSE(done->scores.first);
  EXPECT_EQ(say(folder), 0);
  EXPECT_THAT(said_, HasSubstr("scores of the run's end equal"));
}

TEST_F(lonely_run, differs_where_clients_learn_otherwise) {
  const auto folder = alone({});
  const auto x = configured(example(),
                            {"method=local", "rounds=4", "evaluate_every=2",
                             "events=true", "learning_rate=0.05"},
                            scratch_.path());
  const auto done = node::replay(x, folder,
                                 {.make_model = no_model,
                                  .note = [](const std::string&) {},
                                  .show = [](const auto&) {}});
  ASSERT_TRUE(done) << done.error().context;
  ASSERT_TRUE(done->scores.first);
  EXPECT_EQ(done->scores.first->what, "clients_loss");
  EXPECT_EQ(done->differs_in, "summary.json");
  EXPECT_LT(done->scores.equal, done->scores.total);
}

TEST_F(lonely_run, says_which_score_differs) {
  const auto folder = alone({});
  replace_in(folder / "summary.json", "clients_loss", 0.5);
  EXPECT_EQ(say(folder), 1);
  EXPECT_THAT(said_, HasSubstr("first difference: summary.json: clients_loss"));
  EXPECT_THAT(said_, HasSubstr("recorded    0.5"));
  EXPECT_EQ(say(folder, {"--format", "json"}), 1);
  EXPECT_THAT(said_, HasSubstr("scores_differ"));
}

TEST_F(lonely_run, differs_where_a_score_is_gone_or_was_never_there) {
  const auto folder = alone({});
  const auto whole = replay(folder);
  ASSERT_TRUE(whole) << whole.error().context;
  const auto changed = [&](const std::string& key, const ordered_json& value) {
    const auto was =
      models::read_text(folder / "summary.json", errc::invalid_data).value();
    replace_in(folder / "summary.json", key, value);
    const auto done = replay(folder);
    std::ofstream{folder / "summary.json"} << was;
    EXPECT_TRUE(done) << done.error().context;
    return done ? done->scores : node::comparison{};
  };
  const auto gone = changed("clients_loss", nullptr);
  EXPECT_EQ(gone.total, whole->scores.total);
  ASSERT_TRUE(gone.first);
  EXPECT_EQ(gone.first->what, "clients_loss");
  EXPECT_EQ(gone.first->recorded, "null");
  // Scores of this task are of no tokens.
  const auto more = changed("perplexity", 2.5);
  EXPECT_EQ(more.total, whole->scores.total + 1);
  ASSERT_TRUE(more.first);
  EXPECT_EQ(more.first->what, "perplexity");
  EXPECT_EQ(more.first->recomputed, "null");
  const auto word = changed("perplexity", "2.5");
  ASSERT_TRUE(word.first);
  EXPECT_EQ(word.first->recorded, "\"2.5\"");
}

// It lacks what this version says for the first time.
TEST_F(lonely_run, of_an_earlier_version_is_held_to_what_it_says) {
  const auto folder = alone({});
  const auto whole = replay(folder);
  ASSERT_TRUE(whole) << whole.error().context;
  std::ifstream file{folder / "summary.json"};
  auto summary = ordered_json::parse(file);
  summary.erase("clients_loss");
  const auto scores_of = [&](const ordered_json& x) {
    std::ofstream{folder / "summary.json"} << x.dump();
    const auto done = replay(folder);
    EXPECT_TRUE(done) << done.error().context;
    return done ? done->scores : node::comparison{};
  };
  EXPECT_TRUE(scores_of(summary).first);
  summary.erase("files");
  const auto earlier = scores_of(summary);
  EXPECT_FALSE(earlier.first);
  EXPECT_EQ(earlier.total, whole->scores.total - 1);
}

TEST_F(lonely_run, that_was_never_scored_has_nothing_to_compare) {
  const auto folder = alone({"evaluate_every=0"});
  const auto done = replay(folder);
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_EQ(done->scores.total, 0u);
  EXPECT_EQ(done->why_none, node::unscored::never);
  EXPECT_EQ(say(folder), 3);
  EXPECT_THAT(said_, HasSubstr("nothing was compared"));
  EXPECT_THAT(said_, HasSubstr("the same run with evaluate_every above 0"));
  EXPECT_EQ(say(folder, {"--format", "json"}), 3);
  EXPECT_THAT(said_, HasSubstr("\"success\": false"));
}

TEST_F(lonely_run, whose_last_visits_have_no_word_has_nothing_to_compare) {
  const auto folder = alone({});
  const auto done = replay_changed(folder, [](lines& all) {
    const auto last = places_of("visit_failed", all);
    ASSERT_FALSE(last.empty());
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(last.back()) - 1);
  });
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_EQ(done->scores.total, 0u);
  EXPECT_EQ(done->why_none, node::unscored::under_way);
  EXPECT_THAT(node::has_scores(*done),
              HasSubstr("visits were under way when this run ended; one of "
                        "mode = \"sync\""));
}

} // namespace troupe::test::last_scores_test
