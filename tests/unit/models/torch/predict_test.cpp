// What runs say to clients that they never knew: during the run, and by their
// folders afterwards.

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "node/commands/eval.hpp"
#include "node/commands/predict.hpp"
#include "tests/support/torch_runs.hpp"

namespace troupe::test {

namespace {

/// Eight clients, of which the last three are held out.
const overrides gated{"method=ddome",
                      "rounds=6",
                      "held_out=3",
                      "options.experts=3",
                      "options.chosen=2",
                      "options.anchors=0",
                      "options.anchors_per_round=0",
                      "options.renormalise=1",
                      "options.gate_rate=0.3",
                      "training.learning_rate=0.2"};

overrides with(overrides xs, const overrides& more) {
  xs.insert(xs.end(), more.begin(), more.end());
  return xs;
}

class strangers_of_runs : public torch_run {
protected:
  struct answer {
    node::exit_code how{};
    std::string out;
    std::string err;
  };

  /// A table of six columns, as the run's inputs are.
  std::string inputs(std::size_t columns = 6, std::size_t rows = 40) {
    const auto path = scratch_.path() + "/inputs.csv";
    std::ofstream file{path};
    for (std::size_t c = 0; c < columns; ++c)
      file << (c > 0 ? "," : "") << 'x' << c;
    file << '\n';
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t c = 0; c < columns; ++c)
        file << (c > 0 ? "," : "") << (c == i % columns ? 3 : -1);
      file << '\n';
    }
    return path;
  }

  answer predict(const std::string& folder, const std::string& data,
                 const overrides& more = {}) {
    overrides args{folder, "--data", data, "--to",
                   scratch_.path() + "/predictions.csv"};
    args.insert(args.end(), more.begin(), more.end());
    std::ostringstream out;
    std::ostringstream err;
    const auto make = node::models_by(*troupe_torch());
    const auto how = node::predict_command(make, args, {out, err});
    return {how, out.str(), err.str()};
  }

  answer eval(const std::string& folder) {
    const overrides args{folder, "--matrix", "--format", "json"};
    std::ostringstream out;
    std::ostringstream err;
    const auto make = node::models_by(*troupe_torch());
    const auto how = node::eval_command(make, args, {out, err});
    return {how, out.str(), err.str()};
  }

  std::vector<std::string> predictions() {
    std::ifstream file{scratch_.path() + "/predictions.csv"};
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
      lines.push_back(line);
    return lines;
  }
};

nlohmann::json parsed(const std::string& text) {
  return nlohmann::json::parse(text);
}

} // namespace

TEST_F(strangers_of_runs, are_scored_at_each_evaluation_and_change_nothing) {
  const auto x = go(gated);
  ASSERT_TRUE(x.held_out);
  EXPECT_TRUE(x.rows_embedded);
  std::ifstream lines{x.folder + "/metrics.jsonl"};
  std::size_t evaluations = 0;
  for (std::string line; std::getline(lines, line);)
    if (const auto y = parsed(line); y["kind"] == "evaluation") {
      EXPECT_TRUE(y.contains("zero_shot")) << line;
      ++evaluations;
    }
  EXPECT_GE(evaluations, 6u);
  EXPECT_EQ(go(with(gated, {"evaluate_every=0"})).digest, x.digest);
  EXPECT_EQ(go(with(gated, {"workers=1"})).digest, x.digest);
}

// The common model, the gate and K experts down, K numbers up.
TEST_F(strangers_of_runs, cost_what_they_ask_for) {
  const auto x = go(gated);
  ASSERT_TRUE(x.zero_shot_bytes_down);
  const auto common = x.values.at("model") / 3; // It is of the same shape.
  EXPECT_EQ(*x.zero_shot_bytes_down,
            4 * (common + x.values.at("gate") + 2 * common));
  EXPECT_EQ(x.zero_shot_bytes_up, 16u);
  EXPECT_FALSE(go({"method=ditto", "held_out=3"}).zero_shot_bytes_down);
  EXPECT_FALSE(go({}).zero_shot_bytes_down);
}

// What a visit is sent, in frames, is that and less than a hundredth more: but
// for the common model, which travels once.
TEST_F(strangers_of_runs, cost_what_the_frames_of_a_visit_hold) {
  const auto x =
    go(with(gated, {"model.hidden=[200, 200]", "options.gate_width=16"}));
  ASSERT_TRUE(x.zero_shot_bytes_down);
  const auto common = 4 * x.values.at("model") / 3;
  const auto sent =
    static_cast<double>(x.bytes_down) / static_cast<double>(x.visits);
  const auto said = static_cast<double>(*x.zero_shot_bytes_down - common);
  EXPECT_GE(sent, said);
  EXPECT_NEAR(sent, said, said / 100);
}

TEST_F(strangers_of_runs, get_answers_of_a_common_model_that_nobody_trains) {
  const auto run = go({"method=common_expert", "rounds=1", "held_out=3"});
  EXPECT_TRUE(run.held_out);
  const auto done = predict(run.folder, inputs(), {"--format", "json"});
  ASSERT_EQ(done.how, node::exit_code::ok) << done.err;
  EXPECT_EQ(parsed(done.out)["bytes_read"], 0);
  ASSERT_EQ(predictions().size(), 41u);
}

TEST_F(strangers_of_runs, get_answers_by_no_more_than_they_asked_for) {
  const auto run = go(gated);
  const auto done = predict(run.folder, inputs(), {"--format", "json"});
  ASSERT_EQ(done.how, node::exit_code::ok) << done.err;
  const auto object = parsed(done.out);
  EXPECT_EQ(object["rows"], 40);
  EXPECT_EQ(object["experts"].size(), 2u);
  const auto expert = run.values.at("model") / 3;
  EXPECT_EQ(object["bytes_read"], 4 * (run.values.at("gate") + 2 * expert));
  const auto lines = predictions();
  ASSERT_EQ(lines.size(), 41u);
  EXPECT_EQ(lines[0], "row,label,expert");
  EXPECT_EQ(lines[1].substr(0, 2), "1,");
  std::set<std::string> asked;
  for (const auto& one : object["experts"])
    asked.insert(std::to_string(one.get<int>()));
  for (std::size_t i = 1; i < lines.size(); ++i)
    EXPECT_TRUE(asked.contains(lines[i].substr(lines[i].rfind(',') + 1)))
      << lines[i];
  const auto said = predict(run.folder, inputs());
  EXPECT_EQ(said.out.substr(0, 18), "asked for experts ");
}

TEST_F(strangers_of_runs, get_answers_of_the_one_model_that_there_is) {
  const auto run = go({});
  const auto done = predict(run.folder, inputs());
  ASSERT_EQ(done.how, node::exit_code::ok) << done.err;
  EXPECT_EQ(done.out.find("asked for"), std::string::npos);
  const auto lines = predictions();
  ASSERT_EQ(lines.size(), 41u);
  EXPECT_EQ(lines[40].back(), ',');
}

TEST_F(strangers_of_runs, are_refused_and_nothing_is_written) {
  const auto refused = [&](const std::string& folder, const std::string& data) {
    const auto done = predict(folder, data);
    EXPECT_NE(done.how, node::exit_code::ok) << done.out;
    EXPECT_TRUE(predictions().empty());
    return done.err;
  };
  EXPECT_NE(refused(go({"method=ditto"}).folder, inputs())
              .find("gives each client a part of its own"),
            std::string::npos);
  EXPECT_NE(refused(go({}).folder, inputs(5))
              .find("has examples of 5, and the run learned from 6"),
            std::string::npos);
  EXPECT_NE(refused(scratch_.path(), inputs()).find("holds no run"),
            std::string::npos);
  const auto cut = go({}).folder;
  std::filesystem::remove(cut + "/model.safetensors");
  EXPECT_NE(refused(cut, inputs()).find("holds no result"), std::string::npos);
}

TEST_F(strangers_of_runs, of_problems_without_examples_are_refused) {
  const auto run = finished(configured(quadratic_run, {}, scratch_.path()));
  const auto done = predict(run.folder, inputs());
  EXPECT_NE(done.err.find("a problem that has no examples"), std::string::npos);
}

// On its own rows a client that was never invited is worth what its experts
// are, row by row: no more than the best of each.
TEST_F(strangers_of_runs, see_all_experts_in_a_matrix) {
  const auto run = go(gated);
  const auto done = eval(run.folder);
  ASSERT_EQ(done.how, node::exit_code::ok) << done.err;
  std::ifstream file{run.folder + "/matrix.json"};
  const auto object = nlohmann::json::parse(file);
  EXPECT_EQ(object["experts"].get<std::vector<std::string>>(),
            (std::vector<std::string>{"model.0", "model.1", "model.2"}));
  ASSERT_EQ(object["accuracy"].size(), object["clients"].size());
  for (const auto& line : object["accuracy"]) {
    ASSERT_EQ(line.size(), 3u);
    for (const auto& one : line)
      EXPECT_TRUE(one >= 0 && one <= 1);
  }
  auto said = parsed(done.out);
  EXPECT_EQ(said["success"], true);
  said.erase("success");
  EXPECT_EQ(said, object);
}

TEST_F(strangers_of_runs, have_no_matrix_of_one_model) {
  const auto done = eval(go({}).folder);
  EXPECT_EQ(done.how, node::exit_code::configuration);
  EXPECT_NE(done.out.find("method 'fedavg' has no several models to be "
                          "compared"),
            std::string::npos);
}

} // namespace troupe::test
