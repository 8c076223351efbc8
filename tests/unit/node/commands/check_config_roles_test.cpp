// What `check-config` says of who is invited how often, and of what clients ask
// for.

#include "node/commands/command.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.hpp"

namespace troupe::node::check_config_roles_test {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct outcome {
  exit_code how;
  std::string out;
  std::string err;
};

outcome checked(std::vector<std::string> more) {
  const test::scratch_folder scratch;
  const auto path = scratch.path() + "/a.toml";
  std::ofstream{path} << "rounds = 5\nclients = 20\nclients_per_round = 8\n";
  std::vector<std::string> args{"check-config", path};
  args.insert(args.end(), more.begin(), more.end());
  std::ostringstream out, err;
  const auto all =
    basic_commands({.arithmetic = [] { return "torch"; }, .make_model = {}});
  const auto how = dispatch(all, args, {out, err});
  return {how, out.str(), err.str()};
}

} // namespace

TEST(check_config, says_who_is_invited_how_often_and_what_is_asked_for) {
  const auto x =
    checked({"--set=method=ddome", "--set=options.experts=4",
             "--set=options.anchors=4", "--set=options.anchors_per_round=3"});
  EXPECT_EQ(x.how, exit_code::ok) << x.err;
  EXPECT_THAT(x.out,
              HasSubstr("\n  roles      anchor (the first 4 clients, 3 in "
                        "each window), common (all others)\n"));
  EXPECT_THAT(x.out,
              HasSubstr("\n  asks for   at most 2 of model, at most 2 of "
                        "model.buffers\n"));
  EXPECT_THAT(x.out, HasSubstr("request (up to 2 numbers from 0 to 3)"));
}

TEST(check_config, says_it_of_baselines_whose_first_clients_come_often) {
  const auto x = checked({"--set=method=fedavg", "--set=often=5"});
  EXPECT_EQ(x.how, exit_code::ok) << x.err;
  EXPECT_THAT(x.out,
              HasSubstr("\n  roles      often (the first 5 clients, 4 in "
                        "each window), all (all others)\n"));
  EXPECT_THAT(x.out, Not(HasSubstr("asks for")));
  const auto plain = checked({"--set=method=fedavg"});
  EXPECT_THAT(plain.out, Not(HasSubstr("roles")));
}

TEST(check_config, says_both_to_programs) {
  const auto of = [](const std::string& method) {
    return nlohmann::json::parse(
      checked({"--set=method=" + method, "--format", "json"}).out);
  };
  const auto x = of("ddome");
  ASSERT_EQ(x.at("roles").size(), 2u);
  EXPECT_EQ(x["roles"][0]["name"], "anchor");
  EXPECT_EQ(x["roles"][0]["members"], 5);
  EXPECT_EQ(x["roles"][0]["quota"], 5);
  EXPECT_EQ(x["asks_for"][0]["family"], "model");
  EXPECT_EQ(x["asks_for"][0]["most"], 2);
  EXPECT_TRUE(of("ifca").at("asks_for").empty());
}

TEST(check_config, refuses_options_that_do_not_go_together) {
  const auto x = checked({"--set=method=ddome", "--set=options.chosen=7"});
  EXPECT_EQ(x.how, exit_code::configuration);
  EXPECT_THAT(x.err, HasSubstr("option 'chosen' of method 'ddome' must be at "
                               "most 'experts', 5, found 7"));
  EXPECT_EQ(checked({"--set=method=ddome", "--set=options.chosen=7",
                     "--set=options.experts=9"})
              .how,
            exit_code::ok);
}

TEST(check_config, refuses_a_quota_that_leaves_no_place_for_others) {
  const auto of = [](std::vector<std::string> more) {
    more.insert(more.begin(), "--set=method=ddome");
    return checked(std::move(more));
  };
  for (const std::string cohort : {"4", "5"}) {
    const auto x = of({"--set=clients_per_round=" + cohort});
    EXPECT_EQ(x.how, exit_code::configuration);
    EXPECT_THAT(x.err, HasSubstr("'anchors_per_round' leaves no place for "
                                 "others: it must be below "
                                 "'clients_per_round', "
                                 + cohort + ", found 5"));
  }
  EXPECT_EQ(of({"--set=clients_per_round=6"}).how, exit_code::ok);
  EXPECT_THAT(
    of({"--set=options.anchors_per_round=5", "--set=clients_per_round=5"}).err,
    HasSubstr("options.anchors_per_round=5"))
    << "it says where that is";
  // Where there is nobody else, nobody lacks a place.
  EXPECT_EQ(of({"--set=clients_per_round=5", "--set=options.experts=20",
                "--set=options.anchors=20"})
              .how,
            exit_code::ok);
  EXPECT_EQ(of({"--set=clients_per_round=4", "--set=options.anchors=0",
                "--set=options.anchors_per_round=0"})
              .how,
            exit_code::ok);
}

} // namespace troupe::node::check_config_roles_test
