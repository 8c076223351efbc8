// Who asked for which expert, as a run's folder says it.

#include "node/report/routing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "node/report/heat_map.hpp"
#include "node/report/page.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::test::routing_test {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view config = R"(
name = "asked"
method = "ddome"
seed = 7
rounds = 3
[clients]
clients = 20
)";

/// Of three common clients and an anchor, who says nothing of a request.
constexpr std::string_view events = R"(
{"at":0.0,"event":"invited","client":7,"visit":1,"index":1,"seed":1,"role":1,"progress":0.0}
{"at":1.0,"event":"offered","client":7,"visit":1,"checksum":"aa","disclosed":[{"index":0,"values":[3,1]}]}
{"at":1.0,"event":"offered","client":1,"visit":1,"checksum":"ab"}
{"at":1.0,"event":"offered","client":8,"visit":1,"checksum":"ac","disclosed":[{"index":0,"values":[3]}]}
{"at":2.0,"event":"offered","client":7,"visit":2,"checksum":"ad","disclosed":[{"index":0,"values":[1,3]}]}
)";

/// An expert family of four, of which visits say whom they ask for.
recipe asking() {
  return {
    .name = "asking",
    .summary = "",
    .blocks = {{.name = "gate"},
               {.name = "model", .where = scope::expert, .count = 4}},
    .legs = {{.fetch = {{.family = "gate"}}, .choice = {"best"}},
             {.fetch = {{.family = "model", .chosen = true}}}},
    .roles = {{.procedure = {"sgd"}}},
    .disclosures = {
      {.name = "request", .count_max = 2, .max = 3, .chosen_of = "model"}}};
}

models::layout layout_of(const recipe& method) {
  return *models::make_layout(
    method, {{"gate", {{"w", {2}}}}, {"model", {{"w", {2}}}}}, {});
}

class routing_report : public ::testing::Test {
protected:
  void file(const std::string& name, std::string_view text) {
    std::ofstream{scratch_.path() + "/" + name} << text.substr(1);
  }

  std::optional<json> routing(const recipe& method) const {
    return node::routing_in(scratch_.path(), method, layout_of(method));
  }

  std::string page() {
    const auto x = node::read_run(scratch_.path());
    return x ? node::page_of(*x) : x.error().context;
  }

  scratch_folder scratch_;
};

std::string dumped(const json& x, const char* key) {
  const auto* found = x.find(key);
  return found ? found->dump() : "none";
}

} // namespace

TEST_F(routing_report, is_made_of_what_visits_disclosed) {
  file("events.jsonl", events);
  const auto x = routing(asking());
  ASSERT_TRUE(x.has_value());
  EXPECT_EQ(dumped(*x, "experts"),
            R"(["model.0","model.1","model.2","model.3"])");
  EXPECT_EQ(dumped(*x, "requests"), "[0,2,0,3]");
  EXPECT_EQ(dumped(*x, "first_places"), "[0,1,0,2]");
  EXPECT_EQ(dumped(*x, "visits"), "3");
  EXPECT_EQ(dumped(*x, "alarms"), "[]");
}

// A server that was killed hears an offer again, and so does its record.
TEST_F(routing_report, has_each_visit_once) {
  const auto again = std::string{events}
                     + R"({"at":3.0,"event":"offered","client":7,"visit":1,)"
                       R"("checksum":"aa","disclosed":[{"index":0,)"
                       R"("values":[3,1]}]})"
                     + "\n";
  file("events.jsonl", again);
  file("config.toml", config);
  const auto x = routing(asking());
  ASSERT_TRUE(x.has_value());
  EXPECT_EQ(dumped(*x, "requests"), "[0,2,0,3]") << "the last is said again";
  EXPECT_EQ(dumped(*x, "visits"), "3");
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("client 7 asked 2 times for model.3"));
  EXPECT_THAT(text, HasSubstr("3 visits said whom they asked for"));
}

TEST_F(routing_report, has_the_alarms_that_stand_at_the_end) {
  std::string all = "\n";
  for (int i = 0; i < 200; ++i)
    all += R"({"at":1,"event":"offered","client":7,"visit":)"
           + std::to_string(i + 1) + R"(,"disclosed":[{"index":0,"values":[2,)"
           + (i % 2 == 0 ? "0" : "1") + "]}]}\n";
  file("events.jsonl", all);
  const auto x = routing(asking());
  ASSERT_TRUE(x.has_value());
  EXPECT_EQ(dumped(*x, "alarms"),
            R"(["expert 'model.2' has 50 of the last 50 first places: the )"
            R"(gate sends nearly all to it","no client has asked for expert )"
            R"('model.3' in the last 200 visits"])");
}

TEST_F(routing_report, is_none_without_events_or_where_nobody_says_it) {
  EXPECT_FALSE(routing(asking()).has_value());
  file("events.jsonl", events);
  auto silent = asking();
  silent.disclosures.clear();
  EXPECT_FALSE(routing(silent).has_value());
}

TEST_F(routing_report, shows_clients_and_experts) {
  file("config.toml", config);
  file("events.jsonl", events);
  file("summary.json", R"( {"success":true,"method_results":)"
                       R"({"gate_entropy":0.75,"accuracy_group_2":0.5}})");
  file("matrix.json", R"( {"experts":["model.0","model.1"],)"
                      R"("clients":[7],"accuracy":[[0.25,0.5]]})");
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("<h2>Who asks for which expert</h2>"));
  EXPECT_THAT(text, HasSubstr("client 7 asked 2 times for model.3"));
  EXPECT_THAT(text, HasSubstr("model.3: first of 2 visits, asked for by 3"));
  EXPECT_THAT(text, HasSubstr("3 visits said whom they asked for."));
  EXPECT_THAT(text, HasSubstr("all alike: <b>0.75</b>"));
  EXPECT_THAT(text, HasSubstr("accuracy of group 2: <b>0.5</b>"));
  EXPECT_THAT(text, HasSubstr("client 7 with model.1: 0.5"));
}

TEST_F(routing_report, is_no_section_of_a_method_without_requests) {
  std::string other{config};
  other.replace(other.find("ddome"), 5, "fedavg");
  file("config.toml", other);
  file("events.jsonl", events);
  EXPECT_THAT(page(), Not(HasSubstr("Who asks for which expert")));
}

TEST(heat_map, draws_each_value_and_nothing_of_none) {
  const node::heat_map map{
    .title = "t",
    .x_title = "x",
    .y_title = "y",
    .columns = {"a", "b"},
    .rows = 2,
    .cells = {{.row = 1, .column = 0, .share = 0.5, .says = "<here>"}}};
  const auto text = draw(map);
  EXPECT_THAT(text, HasSubstr("&lt;here&gt;"));
  EXPECT_THAT(text, HasSubstr("fill-opacity=\"0.5\""));
  EXPECT_EQ(draw(node::heat_map{}), "");
}

TEST(heat_map, names_as_many_rows_as_there_is_room_for) {
  node::heat_map map{.title = "t",
                     .x_title = "x",
                     .y_title = "y",
                     .columns = {"a"},
                     .rows = 100,
                     .cells = {}};
  for (std::size_t i = 0; i < map.rows; ++i)
    map.row_names.push_back("r" + std::to_string(i));
  map.row_names[8] = "longer";
  const auto text = draw(map);
  // Four of these are as high as a name.
  EXPECT_THAT(text, HasSubstr(">r4<"));
  EXPECT_THAT(text, Not(HasSubstr(">r5<")));
  EXPECT_THAT(text, Not(HasSubstr(">longer<")));
}

} // namespace troupe::test::routing_test
