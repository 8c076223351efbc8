// What a sweep asks for, and what becomes of its results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "node/sweep/sweep_remark.hpp"
#include "node/sweep/sweep_table.hpp"

namespace troupe::node::sweep_test {

namespace {

using ::testing::HasSubstr;

constexpr std::string_view two_by_two = R"(
rounds = 2
[sweep]
methods = ["fedavg", "local"]
seeds = [3, 5]
metrics = ["test_mse", "per_client.mean"]
[sweep.settings]
plain = []
fast = ["learning_rate=0.5", "rounds=1"]
[sweep.published]
"fedavg plain" = "2.0 ± 0.1"
)";

sweep_plan plan_of(std::string_view text) {
  const auto found = read_sweep({text, "a.toml"});
  EXPECT_TRUE(found) << found.error().context;
  return found && *found ? **found : sweep_plan{};
}

std::string refusal(std::string_view text) {
  const auto found = read_sweep({text, "a.toml"});
  return found ? "accepted" : found.error().context;
}

json result_with(double mse, double mean) {
  return {{"success", true},
          {"per_client", {{"mean", mean}}},
          {"method_results", {{"test_mse", mse}}}};
}

} // namespace

TEST(sweep, is_methods_times_settings_times_seeds) {
  const auto plan = plan_of(two_by_two);
  ASSERT_EQ(plan.rows.size(), 4u);
  const auto cells = cells_of(plan);
  ASSERT_EQ(cells.size(), 8u);
  EXPECT_EQ(cells[0].seed, 3u);
  EXPECT_EQ(cells[4].seed, 5u) << "seed by seed";
  std::set<std::string> names;
  for (const auto& x : cells)
    names.insert(x.name());
  EXPECT_EQ(names.size(), 8u);
  EXPECT_TRUE(names.contains("fedavg-fast-3"));
  const auto fast = std::ranges::find(cells, "local-fast-5", &sweep_cell::name);
  EXPECT_EQ(fast->changes(),
            (std::vector<std::string>{"learning_rate=0.5", "rounds=1",
                                      "method=local", "seed=5"}));
}

TEST(sweep, has_rows_of_their_own_behind_the_others) {
  const auto plan = plan_of("[sweep]\nmethods = ['local']\n[sweep.rows]\n"
                            "often = ['method=fedavg', 'clients.often=5']\n"
                            "'as it is' = []\n"
                            "[sweep.published]\noften = '61 %'\n");
  const auto cells = cells_of(plan);
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[0].name(), "local-1");
  EXPECT_EQ(cells[1].name(), "often-1");
  EXPECT_EQ(
    cells[1].changes(),
    (std::vector<std::string>{"method=fedavg", "clients.often=5", "seed=1"}));
  EXPECT_EQ(cells[1].row->published, "61 %");
  EXPECT_EQ(cells[2].name(), "as-it-is-1");
  EXPECT_EQ(cells[2].changes(), (std::vector<std::string>{"seed=1"}))
    << "by the method of the configuration";
}

TEST(sweep, may_have_rows_of_their_own_alone) {
  const auto plan = plan_of("[sweep]\n[sweep.rows]\none = []\ntwo = []\n");
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.rows[0].name(), "one");
  EXPECT_EQ(plan.rows[1].name(), "two") << "as people wrote them";
  EXPECT_THAT(refusal("[sweep]\n[sweep.settings]\nfast = []\n"
                      "[sweep.rows]\none = []\n"),
              HasSubstr("name one method or more"));
  EXPECT_THAT(refusal("[sweep]\nmethods = ['']\n"),
              HasSubstr("name one method or more"));
  EXPECT_THAT(refusal("[sweep]\n[sweep.rows]\n'' = []\n"),
              HasSubstr("'sweep.rows': give each a name"));
  EXPECT_THAT(refusal("[sweep]\n[sweep.rows]\none = 'method=local'\n"),
              HasSubstr("must be a list of words in quotes"));
  EXPECT_THAT(refusal("[sweep]\nmethods = ['local']\n[sweep.rows]\n"
                      "local = []\n"),
              HasSubstr("two runs would be called 'local-1'"));
}

TEST(sweep, is_not_asked_for_by_most) {
  EXPECT_FALSE(read_sweep({"rounds = 2\n", "a.toml"})->has_value());
  EXPECT_EQ(plan_of("[sweep]\nmethods = [\"fedavg\"]\nseeds = 3\n").seeds,
            (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(read_sweep({"[sweep]\nmethods = [\"fedavg\"]\nrun = \"b.toml\"\n",
                        "deploy/a.toml"})
              .value()
              ->run,
            "deploy/b.toml");
  // The rest of the file is read as if it were not there.
  EXPECT_TRUE(parse_config({two_by_two, "a.toml"}));
}

TEST(sweep, refuses_what_it_cannot_mean_with_its_line) {
  EXPECT_EQ(refusal("[sweep]\nmethods = [\"fedavg\"]\nseds = 3\n"),
            "a.toml:3: 'sweep.seds': unknown; did you mean 'sweep.seeds'?");
  EXPECT_THAT(refusal("[sweep]\nmethods = []\n"),
              HasSubstr("name one method or more"));
  EXPECT_THAT(refusal("[sweep]\nmethods = [\"fedavg\"]\nseeds = 0\n"),
              HasSubstr("a.toml:3: 'sweep.seeds': must be how many"));
  EXPECT_THAT(refusal("[sweep]\nmethods = \"fedavg\"\n"),
              HasSubstr("must be a list of words in quotes"));
  EXPECT_THAT(refusal("[sweep]\nmethods = [\"fedavg\"]\n[sweep.published]\n"
                      "local = \"1\"\n"),
              HasSubstr("'sweep.published.local': no row of the table"));
  EXPECT_THAT(
    refusal("rounds = 1\n[sweep]\nrun = \"b.toml\"\n"),
    HasSubstr("a.toml:3: 'sweep.run': the runs begin from that file"));
  EXPECT_EQ(refusal("sweep = 1\n"), "a.toml:1: 'sweep' is a table: [sweep]");
}

// 1, 2, 4, 5: mean 3, squares 4 + 1 + 1 + 4 over 3.
TEST(sweep, has_the_deviation_of_a_sample) {
  const auto x = summary_of({5, 1, 4, 2});
  EXPECT_EQ(x.mean, 3);
  EXPECT_EQ(x.median, 3);
  EXPECT_NEAR(*x.deviation, std::sqrt(10.0 / 3), 1e-12);
  EXPECT_FALSE(summary_of({7}).deviation);
  const auto wide = summary_of({-1e308, 1e308, 1e308});
  EXPECT_NEAR(wide.mean, 1e308 / 3, 1e294);
  EXPECT_NEAR(*wide.deviation, 1e308 * (2 / std::sqrt(3)), 1e294);
  EXPECT_EQ(wide.median, 1e308);
}

TEST(sweep, refuses_two_runs_of_one_name_and_too_many_seeds) {
  const auto refusal = [](const std::string& text) {
    const auto x = read_sweep({text, "x.toml"});
    return x ? "accepted" : x.error().context;
  };
  EXPECT_THAT(refusal("[sweep]\nmethods = ['local', 'local']\n"),
              HasSubstr("two runs would be called 'local-1'"));
  EXPECT_THAT(refusal("[sweep]\nmethods = ['local']\nseeds = [3, 3]\n"),
              HasSubstr("'local-3'"));
  EXPECT_THAT(refusal("[sweep]\nmethods = ['local']\n[sweep.settings]\n"
                      "'K=1' = []\n'K-1' = []\n"),
              HasSubstr("'local-K-1-1'"));
  EXPECT_THAT(refusal("[sweep]\nmethods = ['local']\nseeds = 20000\n"),
              HasSubstr("from 1 to 10000"));
}

// It is one of three runs that has the second metric.
TEST(sweep, says_of_how_many_runs_a_metric_is) {
  sweep_plan plan;
  plan.rows = {{.method = "fedavg", .setting = {}, .published = {}}};
  plan.seeds = {1, 2, 3, 4};
  plan.metrics = {"a", "b", "c"};
  const auto of = [&](std::uint64_t seed) {
    return sweep_cell{plan.rows.data(), seed}.name();
  };
  const json two = {{"a", 1.0}, {"d", 4.0}};
  const json all = {{"a", 1.0}, {"b", 2.0}};
  const auto table = as_markdown(
    plan, lines_of(plan, {{of(1), two}, {of(2), all}, {of(3), two}}));
  EXPECT_THAT(table, HasSubstr("| 1 ± 0 | 1 | 2 (1) | 2 |  |  |  | "
                               "3, 1 failed or missing |"));
}

TEST(sweep, tells_what_is_missing_apart_from_what_was_found) {
  const auto plan = plan_of(two_by_two);
  const auto lines = lines_of(plan, {{"fedavg-plain-3", result_with(1, 0.5)},
                                     {"fedavg-plain-5", result_with(3, 0.7)},
                                     {"local-plain-3", result_with(9, 0.1)}});
  const auto table = as_markdown(plan, lines);
  EXPECT_THAT(table,
              HasSubstr("| fedavg plain | 2 ± 1.414 | 2 | 0.6 ± 0.1414 | "
                        "0.6 | 2.0 ± 0.1 | 2 |"));
  EXPECT_THAT(table, HasSubstr("| 1, 1 failed or missing |"));
  EXPECT_THAT(table, HasSubstr("| 0, 2 failed or missing |"));
  EXPECT_THAT(as_csv(plan, lines),
              HasSubstr("local plain,test_mse,1,9.0,,9.0,9.0,9.0,1,\n"));
  EXPECT_THAT(as_csv(plan, lines), HasSubstr(",0,2.0 ± 0.1\n"));
  EXPECT_EQ(nlohmann::json::parse(
              as_json(plan, lines).dump())[0]["metrics"]["test_mse"]["mean"],
            2);
  const auto figure = as_figure(plan, lines);
  EXPECT_THAT(figure, HasSubstr("fedavg plain"));
  EXPECT_EQ(figure.find("nan"), figure.npos);
  // The words of a row end beside the plot, however long they are.
  auto long_names = lines;
  long_names.front().name = std::string(40, 'x');
  EXPECT_THAT(as_figure(plan, long_names), HasSubstr("x=\"330\""));
}

TEST(sweep, says_what_a_run_came_to_and_how_long_is_left) {
  const json result{{"wall_seconds", 90.0},
                    {"method_results", json{{"test_mse", 2.5}}}};
  EXPECT_EQ(come_to(result, "test_mse"), ": test_mse 2.5, in 90.0 s");
  EXPECT_EQ(come_to(result, "recovered"), ": in 90.0 s");
  EXPECT_EQ(come_to({}, "recovered"), "");
  // Two of four that another process has not made took 60 s.
  EXPECT_EQ(time_left({.done = 6, .all = 8, .here = 2, .seconds = 60}),
            "; about 60.0 s left");
  EXPECT_EQ(time_left({.done = 8, .all = 8, .here = 4, .seconds = 60}), "");
}

} // namespace troupe::node::sweep_test
