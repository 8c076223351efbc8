// What `troupe data inspect` says of clients that share rows.

#include "node/commands/data.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.hpp"

namespace troupe::node {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using parsed = nlohmann::json;

const std::string made = "rounds = 1\nclients = 16\nheld_out = 4\n"
                         "[data]\nkind = 'modes'\nrows_per_class = 60\n"
                         "dimension = 2\n[partition]\n";

std::string inspected(const std::string& text, std::vector<std::string> more) {
  const test::scratch_folder folder;
  const auto file = folder.path() + "/run.toml";
  std::ofstream{file} << text;
  std::vector<std::string> args{"inspect", file};
  args.insert(args.end(), more.begin(), more.end());
  std::ostringstream out, err;
  EXPECT_EQ(data(args, {out, err}), exit_code::ok) << err.str();
  return out.str();
}

parsed inspected(const std::string& text) {
  return parsed::parse(inspected(text, {"--format", "json"}));
}

} // namespace

TEST(data_inspect, proves_that_combinations_are_unseen) {
  const auto text =
    made + "kind = 'combinations'\nkinds_per_client = 2\nanchors = 5\n";
  const auto x = inspected(text);
  EXPECT_EQ(x["anchors"].size(), 5u);
  EXPECT_EQ(x["anchors"][4]["client"], 5);
  EXPECT_EQ(x["anchors"][4]["kinds"].size(), 2u);
  EXPECT_EQ(x["anchors_disjoint"], true);
  EXPECT_EQ(x["anchors_cover"], true);
  EXPECT_EQ(x["unseen"], true);
  EXPECT_EQ(x["withheld"].size(), 4u);
  EXPECT_GT(x["shared_rows"].get<int>(), 0);
  EXPECT_EQ(x["clients"][15]["rows"], 0);
  EXPECT_EQ(x["clients"][15]["kinds"].size(), 2u);
  EXPECT_EQ(x["clients"][15]["test_rows"], 36); // All 18 of each of two.
  const auto said = inspected(text, {});
  EXPECT_THAT(said,
              HasSubstr("of 600 training examples are held by more than one "
                        "client.\n5 anchors have disjoint labels, together all "
                        "of them.\n4 held-out clients have 4 combinations that "
                        "nobody trains on: {"));
}

TEST(data_inspect, says_so_where_combinations_are_seen) {
  const auto text = made + "kind = 'combinations'\nkinds_per_client = 10\n"
                    + "unseen = false\n";
  const auto x = inspected(text);
  EXPECT_EQ(x["unseen"], false);
  EXPECT_EQ(x["anchors"].size(), 0u);
  const auto said = inspected(text, {});
  EXPECT_THAT(said, HasSubstr("There are no anchors.\n4 held-out clients have "
                              "1 combination, and somebody trains on 1 of "
                              "them: {0 1 2 3 4 5 6 7 8 9}.\n"));
}

// 56 clients train on the ten combinations that there are.
TEST(data_inspect, counts_the_combinations_that_are_seen) {
  auto text = made + "kind = 'combinations'\nkinds_per_client = 9\n"
              + "rows_per_client = 36\nunseen = false\n";
  text.replace(text.find("16"), 2, "60");
  const auto x = inspected(text);
  const auto seen = x["seen"].get<std::size_t>();
  std::size_t counted = 0;
  for (const auto& withheld : x["withheld"])
    for (std::size_t k = 0; k < 56; ++k)
      if (x["clients"][k]["kinds"] == withheld) {
        ++counted;
        break;
      }
  EXPECT_GT(seen, 1u);
  EXPECT_EQ(seen, counted);
  EXPECT_THAT(
    inspected(text, {}),
    HasSubstr("somebody trains on " + std::to_string(seen) + " of them: {"));
}

TEST(data_inspect, says_of_mixtures_how_much_is_shared) {
  const auto text = made + "kind = 'mixtures'\nalpha = 1\n";
  const auto x = inspected(text);
  EXPECT_GT(x["shared_rows"].get<int>(), 0);
  EXPECT_FALSE(x.contains("unseen"));
  EXPECT_THAT(inspected(text, {}), Not(HasSubstr("anchors")));
  EXPECT_FALSE(inspected(made + "kind = 'iid'\n").contains("shared_rows"));
}

} // namespace troupe::node
