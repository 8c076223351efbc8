// Configurations whose size is what is wrong with them.

#include "core/text.hpp"
#include "node/config/entries.hpp"
#include "node/config/keys.hpp"
#include "node/sweep/sweep_plan.hpp"
#include "node/task/life.hpp"
#include "tests/support/config_text.hpp"

#include <gmock/gmock.h>

#include <array>
#include <string>

namespace troupe::node {

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// "a.a.a", of so many parts.
std::string key_of(std::size_t parts) {
  std::string text = "a";
  for (std::size_t i = 1; i < parts; ++i)
    text += ".a";
  return text;
}

} // namespace

// The library calls itself for each part: so many ended the process.
TEST(toml_keys, of_too_many_parts_are_refused_before_they_are_read) {
  const auto deep = key_of(200'000);
  const auto told = HasSubstr(
    "a.toml:2: this is not TOML: a key has 200000 parts; up to 16 would do");
  for (const auto& text :
       {deep + " = 1", deep, '[' + deep + "]\nx = 1", "[[" + deep + "]]",
        "x = {y = 1, " + deep + " = 1}", "x = [{" + deep + " = 1}]",
        "x = [\"\"\"a\"\"\"\"\", {" + deep + " = 1}]"})
    EXPECT_THAT(refusal("rounds = 1\n" + text), told) << text.substr(0, 40);
  std::string quoted = "'a.b'";
  for (int i = 0; i < 17; ++i)
    quoted += " . \"a.\\\".b\"";
  EXPECT_THAT(refusal("rounds = 1\n" + quoted + " = 1"),
              HasSubstr("a key has 18 parts"));
  EXPECT_THAT(refusal("rounds = 1\n" + key_of(17) + " = 1"),
              HasSubstr("a key has 17 parts"));
}

TEST(toml_keys, of_some_parts_are_read) {
  EXPECT_THAT(refusal("rounds = 1\n" + key_of(16) + " = 1"),
              HasSubstr("a.toml:2: unknown table 'a'"));
  const auto x = read("rounds = 1 # " + key_of(40) + "\nname = '" + key_of(40)
                      + "'\nmean = [" + key_of(1).replace(0, 1, "0.5") + ", 0.5"
                      + ", 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5"
                      + ", 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.name, key_of(40));
}

TEST(toml_keys, have_the_same_bound_wherever_toml_is_read) {
  const auto deep = key_of(200'000) + " = 1\n";
  const auto scenes = parse_scenario("[[scene]]\n" + deep, "b.toml", 3);
  ASSERT_FALSE(scenes);
  EXPECT_THAT(scenes.error().context, HasSubstr("b.toml:2: a key has 200000"));
  // Whoever reads the rest refuses it.
  EXPECT_FALSE(read_sweep({"[sweep]\n" + deep, "c.toml"}).value());
  EXPECT_THAT(refusal("rounds = 1", {"name={" + key_of(99) + " = 1}"}), "");
}

// Each took as long as the search for a similar name among all keys.
TEST(large_configs, search_for_similar_names_where_that_is_shown) {
  problems wrong;
  int searches = 0;
  for (int i = 1000; i > 0; --i)
    wrong.add("a.toml:" + std::to_string(i), "unknown", [&searches] {
      ++searches;
      return std::string{", as shown"};
    });
  const auto text = wrong.text();
  EXPECT_EQ(searches, 10) << "similar names are sought for what is not shown";
  EXPECT_THAT(text,
              AllOf(HasSubstr("a.toml:1: unknown, as shown\na.toml:2: unknown"),
                    HasSubstr("\nand 990 more"), Not(HasSubstr("toml:11:"))));
}

TEST(large_configs, name_nothing_similar_to_what_is_as_long_as_no_name) {
  const std::string name(65, 'a');
  EXPECT_EQ(nearest(name, {name.substr(1)}), "") << "long names are compared";
  EXPECT_EQ(nearest(name.substr(1), {name.substr(2)}), name.substr(2));
}

// As far as by a letter that is another one.
TEST(similar_names, are_rather_those_with_two_letters_swapped) {
  EXPECT_EQ(nearest("paht", {"data.part", "data.path"}), "data.path");
  EXPECT_EQ(nearest("data.paht", {"data.part", "data.path"}), "data.path");
  EXPECT_EQ(nearest("eavl", {"eval", "veal"}), "eval");
  // A third of its letters, and no more.
  EXPECT_EQ(nearest("ba", {"ab"}), "");
  EXPECT_EQ(nearest("bacd", {"abdc"}), "");
}

TEST(large_configs, are_not_printed_whole) {
  const std::string letters(100'000, 'k');
  const auto begins = "'" + letters.substr(0, 100) + "... (100000 bytes)'";
  EXPECT_EQ(refusal("rounds = 1\n" + letters + " = 1"),
            "a.toml:2: unknown key " + begins
              + "; 'troupe check-config --keys' lists all keys");
  EXPECT_THAT(refusal("rounds = 1\n[" + letters + "]"), HasSubstr(begins));
  for (const auto& text :
       {"seed = '" + letters + "'", "method = '" + letters + "'",
        "[options]\n" + letters + " = 1", "[options]\n" + letters + " = -1"})
    EXPECT_LT(refusal("rounds = 1\n" + text).size(), 3000u);
  std::string ones = "1";
  for (int i = 0; i < 99; ++i)
    ones += ", 1";
  EXPECT_EQ(refusal("rounds = 1\nseed = [" + ones + "]"),
            "a.toml:2: 'seed' must be an integer from 0 to "
            "9223372036854775807, found [1, 1, 1, 1, 1, 1, 1, 1, ... (100 in "
            "all)]");
}

TEST(large_configs, have_lists_with_an_end) {
  const auto list = [](const std::string& item, int count) {
    std::string text = "[" + item;
    for (int i = 1; i < count; ++i)
      text += ", " + item;
    return text + "]";
  };
  for (const auto& [key, item] :
       {std::pair{"hidden", "1"}, {"mean", "0.5"}, {"adapt", "'layer'"}}) {
    const auto text = std::string{"rounds = 1\n"} + key + " = ";
    EXPECT_THAT(refusal(text + list(item, 65)),
                HasSubstr(std::string{"'"} + key
                          + "' must be a list of up to 64, each "));
    EXPECT_EQ(refusal(text + list(item, 64)), "");
  }
}

TEST(config, says_where_a_list_lacks_its_brackets_alone) {
  const std::string of_numbers = "a number above 0, up to 1e+30";
  const std::string of_counts = "an integer from 1 to 1024";
  const std::string of_widths = "an integer from 1 to 1048576";
  for (const auto& [key, found, item, remedy] :
       {std::array<std::string, 4>{"hidden", "9", of_widths, "; [9] would do"},
        {"hidden", "0", of_widths, ""},
        {"hidden", "1.5", of_widths, ""},
        // A method, and the size of a model, say how many would do.
        {"experts", "9", of_counts, ""},
        {"experts", "0", of_counts, ""},
        {"expert_memory", "0.0001", of_numbers, ""},
        {"deviation", "2", of_numbers, "; [2] would do"},
        {"deviation", "0.5", of_numbers, "; [0.5] would do"},
        {"deviation", "0", of_numbers, ""}})
    EXPECT_EQ(refusal("rounds = 1\n" + key + " = " + found),
              "a.toml:2: '" + key + "' must be a list of up to 64, each " + item
                + ", found " + found + remedy);
}

TEST(config, knows_a_method_that_is_written_with_other_cases) {
  EXPECT_THAT(refusal("rounds = 1\nmethod = 'FedAvg'"),
              HasSubstr("unknown method 'FedAvg', did you mean 'fedavg'? "));
  EXPECT_THAT(refusal("rounds = 1\nmethod = 'SCAFOLD'"),
              HasSubstr("did you mean 'scaffold'? "));
}

TEST(shortened, leaves_letters_whole) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc... (4 bytes)");
  EXPECT_EQ(shortened("abéé", 3), "ab... (6 bytes)");
}

TEST(config, offers_are_durable_where_clients_live_on) {
  const std::string wall = "rounds = 1\nclock = \"wall\"\n";
  const std::string offer = "durability = \"offer\"\n";
  EXPECT_EQ(refusal(wall + offer), "");
  EXPECT_THAT(refusal("rounds = 1\n" + offer),
              HasSubstr("needs clock = \"wall\", which troupe serve has"));
  EXPECT_THAT(refusal(wall + offer + "ledger = \"memory\""),
              HasSubstr("needs ledger = \"disk\""));
}

TEST(config, a_version_is_kept_at_least) {
  EXPECT_THAT(refusal("rounds = 1\nretention = 0"), HasSubstr("retention"));
}

} // namespace troupe::node
