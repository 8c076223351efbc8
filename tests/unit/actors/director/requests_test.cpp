#include <gtest/gtest.h>

#include <utility>

#include "actors/director/loads.hpp"

namespace troupe::actors::requests_test {

namespace {

/// A gate, and three experts of which visits say whom they ask for.
recipe asked() {
  return {
    .name = "asked",
    .summary = {},
    .blocks = {{.name = "gate"},
               {.name = "model", .where = scope::expert, .count = 3}},
    .legs = {{.fetch = {{.family = "gate"}}, .choice = {"best"}},
             {.fetch = {{.family = "model", .chosen = true}}}},
    .roles = {{.procedure = {"sgd"}}},
    .disclosures = {
      {.name = "other"},
      {.name = "request", .count_max = 2, .max = 2, .chosen_of = "model"}}};
}

class requests_of_visits : public testing::Test {
protected:
  line_id line(const std::string& name) const {
    return blocks.find(name)->line;
  }

  void visit(std::vector<double> request, std::uint32_t disclosure = 1) {
    messages::visit_loaded x{.visit = {{1}, {++visits}},
                             .examples = 10,
                             .blocks = {blocks.find("model.0")->id},
                             .disclosures = {}};
    x.disclosures = {{.index = disclosure, .values = std::move(request)}};
    testee.add(x);
  }

  const recipe method = asked();
  const models::layout blocks = *models::make_layout(
    method, {{"gate", {{"w", {2}}}}, {"model", {{"w", {2}}}}}, {});
  loads testee{method, blocks};
  std::uint64_t visits = 0;
};

} // namespace

TEST_F(requests_of_visits, are_there_from_the_start) {
  const auto x = testee.status().requests;
  EXPECT_EQ(x.experts.size(), 3u);
  EXPECT_EQ(x.experts.at(line("model.2")).asked, 0u);
  EXPECT_EQ(x.visits, 0u);
}

TEST_F(requests_of_visits, are_counted_by_the_line_of_the_expert) {
  visit({2, 0});
  visit({0.5}, 0); // Another thing that it says.
  testee.add({.visit = {{2}, {1}},
              .examples = 10,
              .blocks = {},
              .disclosures = {}}); // An anchor.
  const auto x = testee.status().requests;
  EXPECT_EQ(x.visits, 1u);
  EXPECT_EQ(x.experts.at(line("model.2")).first, 1u);
  EXPECT_EQ(x.experts.at(line("model.0")).first, 0u);
  EXPECT_EQ(x.experts.at(line("model.0")).asked, 1u);
}

TEST_F(requests_of_visits, say_which_alarms_stand) {
  for (int i = 0; i < 200; ++i)
    visit({0, 1});
  const auto x = testee.status().requests;
  ASSERT_EQ(x.alarms.size(), 2u);
  EXPECT_EQ(x.alarms[0].what, "crowded");
  EXPECT_EQ(x.alarms[0].line, line("model.0"));
  EXPECT_EQ(x.alarms[1].what, "deserted");
  EXPECT_EQ(x.alarms[1].text,
            "no client has asked for expert 'model.2' in the last 200 visits");
}

// A server that is killed does not forget them, nor hears one twice.
TEST_F(requests_of_visits, go_on_with_those_of_before) {
  policies::request_watch before{{.experts = 3, .asked = 2}};
  for (std::uint64_t i = 1; i <= 199; ++i)
    before.add({{1}, {i}}, std::vector<std::uint32_t>{0, 1});
  testee = loads{method, blocks, 0, before};
  EXPECT_EQ(testee.status().requests.visits, 199u);
  visits = 198;
  visit({0, 1}); // Its offer is said again.
  EXPECT_EQ(testee.status().requests.alarms.size(), 1u);
  EXPECT_EQ(testee.status().experts.at(line("model.0")).visits, 0.0);
  visit({0, 1});
  const auto x = testee.status().requests;
  EXPECT_EQ(x.visits, 200u);
  EXPECT_EQ(x.experts.at(line("model.0")).first, 200u);
  ASSERT_EQ(x.alarms.size(), 2u);
  EXPECT_EQ(x.alarms[1].what, "deserted");
  EXPECT_EQ(testee.status().experts.at(line("model.0")).visits, 1.0);
}

TEST_F(requests_of_visits, are_not_there_where_nobody_says_them) {
  auto silent = method;
  silent.disclosures.clear();
  const loads other{silent, blocks};
  EXPECT_TRUE(other.status().requests.experts.empty());
}

} // namespace troupe::actors::requests_test
