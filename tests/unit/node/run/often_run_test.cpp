// Runs whose first clients are invited more often than the others.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "node/task/recipe_of.hpp"
#include "tests/support/plain_run.hpp"
#include "tests/support/recorded_runs.hpp"

namespace troupe::test {

namespace {

const overrides three_often{"often=3", "often_per_round=2"};

overrides often_with(const std::string& method) {
  auto all = three_often;
  all.push_back("method=" + method);
  return all;
}

} // namespace

TEST(often_runs, have_a_role_for_those_who_come_often) {
  const auto roles_of = [](const overrides& changes) {
    const auto method = node::recipe_of(configured(quadratic_run, changes, {}));
    EXPECT_TRUE(method) << method.error().context;
    return method ? method->roles : std::vector<role>{};
  };
  EXPECT_EQ(roles_of({}).size(), 1u);
  const auto roles = roles_of(three_often);
  ASSERT_EQ(roles.size(), 2u);
  EXPECT_EQ(roles[0].members, 3u);
  EXPECT_EQ(roles[0].quota, 2u);
}

TEST(often_runs, are_refused_where_the_method_has_roles_of_its_own) {
  auto changes = often_with("ddome");
  changes.push_back("anchors_per_round=1");
  const auto method = node::recipe_of(configured(quadratic_run, changes, {}));
  ASSERT_FALSE(method);
  EXPECT_EQ(method.error().context,
            "method 'ddome' has roles of its own: 'clients.often' must be 0 "
            "(option 'anchors' would do)");
}

TEST(often_runs, are_the_plain_loop) {
  const scratch_folder scratch;
  for (const std::string method : {"fedavg", "scaffold", "ditto"})
    expect_plain_run(
      configured(quadratic_run, often_with(method), scratch.path()), no_model,
      method);
}

TEST_F(recorded_run, of_who_comes_often_is_computed_again) {
  expect_equal(three_often);
  auto buffered = three_often;
  buffered.insert(buffered.end(), {"mode=fedbuff", "versions=12"});
  expect_equal(buffered);
}

// Two of four in each of six rounds.
TEST_F(recorded_run, has_the_first_clients_as_often_as_was_said) {
  std::map<std::string, int> times;
  int all = 0;
  for (const auto& line : read_lines(record(three_often) / "events.jsonl")) {
    const auto event = ordered_json::parse(line);
    if (event["event"] != "invited")
      continue;
    ++all;
    ++times[event.value("client", 0) <= 3 ? "often" : "others"];
  }
  EXPECT_EQ(all, 24);
  EXPECT_EQ(times["often"], 12);
  EXPECT_EQ(times["others"], 12);
}

} // namespace troupe::test
