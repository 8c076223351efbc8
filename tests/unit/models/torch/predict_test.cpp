// What runs say to clients that they never knew: during the run, and by their
// folders afterwards.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/file_digest.hpp"
#include "models/files.hpp"
#include "models/safetensors.hpp"
#include "node/commands/eval.hpp"
#include "node/commands/predict.hpp"
#include "node/task/data.hpp"
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

  nlohmann::json matrix_of(const std::string& folder) {
    const auto done = eval(folder);
    EXPECT_EQ(done.how, node::exit_code::ok) << done.err;
    return nlohmann::json::parse(std::ifstream{folder + "/matrix.json"});
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

/// All bytes below a folder, by file.
std::map<std::string, std::string> files_in(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const auto& one : std::filesystem::recursive_directory_iterator{folder})
    if (one.is_regular_file()) {
      std::ifstream in{one.path(), std::ios::binary};
      std::ostringstream bytes;
      bytes << in.rdbuf();
      all[one.path().lexically_relative(folder).string()] = bytes.str();
    }
  return all;
}

/// Of a run that has ended: expert e says class e of whatever it sees.
void say_one_class_each(const std::string& folder) {
  const std::filesystem::path path{folder + "/model.safetensors"};
  auto file = models::read_safetensors(path).value();
  std::size_t at = 0;
  std::size_t said = 0;
  for (const auto& x : file.tensors) {
    const std::string expert = "model.";
    if (x.name.starts_with(expert)) {
      std::fill_n(file.values.begin() + static_cast<std::ptrdiff_t>(at),
                  x.size(), 0.0F);
      if (x.name.ends_with("/output.bias")) {
        file.values[at + std::stoul(x.name.substr(expert.size()))] = 1;
        ++said;
      }
    }
    at += x.size();
  }
  ASSERT_GT(said, 1u);
  ASSERT_TRUE(models::write_safetensors(path, file));
  // As if the run had ended with it.
  const auto summary = folder + "/summary.json";
  auto all = parsed(models::read_text(summary, errc::invalid_data).value());
  all["files"]["model.safetensors"] =
    models::to_hex(models::digest_of_file(path, errc::invalid_data).value());
  std::ofstream{summary} << all;
}

/// What part of these rows has a label.
double share_of(std::int64_t label, const std::vector<std::uint32_t>& rows,
                const models::example_set& of) {
  const auto count = std::ranges::count_if(
    rows, [&](std::uint32_t row) { return of.labels[row] == label; });
  return static_cast<double>(count) / static_cast<double>(rows.size());
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
  EXPECT_FALSE(go({"model.buffers=local", "held_out=3"}).zero_shot_bytes_down);
  EXPECT_FALSE(go({}).zero_shot_bytes_down);
  // What adapters stand on is of a file.
  const auto adapted = go({"method=homlora", "options.rank=2", "held_out=3"});
  ASSERT_TRUE(adapted.zero_shot_bytes_down);
  EXPECT_EQ(*adapted.zero_shot_bytes_down, 4 * adapted.values.at("adapter"));
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
              .find("inputs.csv:1: has 5 columns, and the run learned from 6"),
            std::string::npos);
  EXPECT_NE(refused(scratch_.path(), inputs()).find("holds no run"),
            std::string::npos);
  const auto cut = go({}).folder;
  std::filesystem::remove(cut + "/model.safetensors");
  EXPECT_NE(refused(cut, inputs()).find("holds no result"), std::string::npos);
}

// Both runs have models of these shapes.
TEST_F(strangers_of_runs, hear_nothing_of_another_runs_model) {
  const auto run = go(gated).folder;
  const auto other = go(with(gated, {"seed=2"})).folder;
  std::filesystem::copy_file(other + "/model.safetensors",
                             run + "/model.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  const auto is_refused = [](const answer& x) {
    EXPECT_NE(x.how, node::exit_code::ok) << x.out;
    // As text, or in JSON.
    const auto said = x.err + x.out;
    EXPECT_NE(said.find("/model.safetensors is not what the run ended with: "
                        "its digest is "),
              std::string::npos)
      << said;
  };
  is_refused(predict(run, inputs()));
  is_refused(eval(run));
  EXPECT_TRUE(predictions().empty());
  EXPECT_FALSE(std::filesystem::exists(run + "/matrix.json"));
}

TEST_F(strangers_of_runs, of_problems_without_examples_are_refused) {
  const auto run = finished(configured(quadratic_run, {}, scratch_.path()));
  const auto done = predict(run.folder, inputs());
  EXPECT_NE(done.err.find("a problem that has no examples"), std::string::npos);
}

TEST_F(strangers_of_runs, leave_the_folder_as_it_was) {
  const auto run = go(with(gated, {"ledger=disk", "events=true"}));
  const auto before = files_in(run.folder);
  const auto done = predict(run.folder, inputs());
  ASSERT_EQ(done.how, node::exit_code::ok) << done.err;
  EXPECT_TRUE(files_in(run.folder) == before) << "it predicted";
  (void)matrix_of(run.folder);
  auto after = files_in(run.folder);
  EXPECT_EQ(after.erase("matrix.json"), 1u);
  EXPECT_TRUE(after == before) << "it scored its experts";
}

// Which examples mean something else for each group of clients.
TEST_F(strangers_of_runs, of_clients_in_groups_are_refused) {
  const auto run = go({"partition.kind=disjoint", "data.clusters=2"});
  const auto done = predict(run.folder, inputs());
  EXPECT_EQ(done.how, node::exit_code::configuration);
  EXPECT_NE(done.err.find("what an example of the run means depends on whose "
                          "it is, and a stranger is nobody; a run without "
                          "groups of clients would do"),
            std::string::npos)
    << done.err;
  EXPECT_TRUE(predictions().empty());
}

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

// An expert that says one class of all is right where rows are of it.
TEST_F(strangers_of_runs, see_each_expert_by_their_own_test_rows) {
  const auto x = described(gated);
  const auto data = node::load_data(x);
  ASSERT_TRUE(data) << data.error().context;
  const auto clients = node::deal(x, *data);
  ASSERT_TRUE(clients) << clients.error().context;
  const auto run =
    go(with(gated, {"options.experts=" + std::to_string(data->classes)}));
  say_one_class_each(run.folder);
  const auto object = matrix_of(run.folder);
  ASSERT_GT(object["clients"].size(), 5u) << "also who is held out";
  for (std::size_t c = 0; c < object["clients"].size(); ++c) {
    const auto client = object["clients"][c].get<std::size_t>();
    const auto line = object["accuracy"][c].get<std::vector<double>>();
    ASSERT_EQ(line.size(), static_cast<std::size_t>(data->classes));
    for (std::size_t e = 0; e < line.size(); ++e)
      EXPECT_NEAR(line[e],
                  share_of(static_cast<std::int64_t>(e),
                           clients->test[client - 1], data->test),
                  1e-9)
        << "client " << client << ", expert " << e;
  }
}

// As a run scores them: who asks for one expert is worth what this one is.
TEST_F(strangers_of_runs, who_ask_for_one_expert_have_its_place_in_a_matrix) {
  const auto run = go(with(gated, {"held_out=1", "options.chosen=1"}));
  ASSERT_TRUE(run.held_out);
  const auto object = matrix_of(run.folder);
  ASSERT_EQ(object["clients"].back(), 8) << "it has test rows";
  const auto line = object["accuracy"].back().get<std::vector<double>>();
  EXPECT_TRUE(std::ranges::any_of(
    line,
    [&](double one) { return std::abs(one - run.held_out->mean) < 1e-9; }))
    << run.held_out->mean;
}

TEST_F(strangers_of_runs, have_no_matrix_of_one_model) {
  const auto done = eval(go({}).folder);
  EXPECT_EQ(done.how, node::exit_code::configuration);
  EXPECT_NE(done.out.find("method 'fedavg' has no several models to be "
                          "compared"),
            std::string::npos);
}

} // namespace troupe::test
