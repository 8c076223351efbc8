// Options of methods. Laws hold for each option of each method of the
// catalogue.

#include "node/config/method_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/support/config_text.hpp"

namespace troupe::node::method_options_test {

namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Calls `f` with each method of the catalogue and each of its options.
void for_each_option(auto f) {
  for (const auto* method : all_methods().built)
    for (const auto& x : method->options) {
      SCOPED_TRACE(method->name + ": " + x.name);
      f(*method, x);
    }
}

result<loaded_config> said(const std::string& method, const std::string& line,
                           std::vector<std::string> overrides = {}) {
  const auto text = "rounds = 1\nmethod = '" + method + "'\n[options]\n" + line;
  return parse_config({text, "a.toml"}, overrides);
}

std::string refused(const std::string& method, const std::string& line,
                    std::vector<std::string> overrides = {}) {
  const auto x = said(method, line, std::move(overrides));
  return x ? "" : x.error().context;
}

std::string text_of(double x) {
  std::ostringstream out;
  out.precision(17);
  out << x;
  return out.str();
}

/// What comes after `x` on the way to `end`, as near as it can be said.
double next(const option_spec& of, double x, double end) {
  const double way = end > x ? 1 : -1;
  if (of.kind != option_kind::number)
    return x + way;
  return x == 0 ? way * 1e-300 : std::nextafter(x, end);
}

struct ends {
  std::vector<double> inside, outside;
};

ends ends_of(const option_spec& x) {
  const auto range = range_of(x);
  const auto below = next(x, range.min, -HUGE_VAL);
  const auto above = next(x, range.max, HUGE_VAL);
  const auto low = range.above_min ? next(x, range.min, HUGE_VAL) : range.min;
  const auto high = range.below_max ? next(x, range.max, -HUGE_VAL) : range.max;
  return {.inside = {low, high},
          .outside = {range.above_min ? range.min : below,
                      range.below_max ? range.max : above}};
}

/// All code that may read an option.
const std::string& sources() {
  static const std::string all = [] {
    std::ostringstream text;
    for (const auto* room : {"/models", "/node"})
      for (const auto& y : std::filesystem::recursive_directory_iterator{
             std::string{TROUPE_SOURCE_DIR} + room})
        if (y.path().extension() == ".cpp" || y.path().extension() == ".hpp")
          text << std::ifstream{y.path()}.rdbuf();
    return text.str();
  }();
  return all;
}

/// Options that neither the recipe nor a line of code takes notice of.
std::vector<std::string> unread(const recipe& method) {
  std::set<std::string> read;
  for (const auto& x : method.blocks)
    read.insert({x.count_option, x.rank_option, x.examples_option,
                 x.name + "_server_rate"});
  for (const auto& x : method.disclosures)
    read.insert(x.count_option);
  for (const auto& leg : method.legs)
    for (const auto& x : leg.fetch)
      read.insert(x.chosen_option);
  for (const auto& x : method.roles)
    read.insert({x.quota_option, x.members_option});
  std::vector<std::string> names;
  for (const auto& x : method.options)
    if (!read.contains(x.name)
        && sources().find('"' + x.name + '"') == std::string::npos)
      names.push_back(x.name);
  return names;
}

} // namespace

TEST(method_options, are_read_by_something) {
  for (const auto* method : all_methods().built)
    EXPECT_THAT(unread(*method), IsEmpty()) << method->name;
  auto planted = *all_methods().find("ditto");
  planted.options.push_back({.name = "nobody_reads", .says = "this"});
  EXPECT_THAT(unread(planted), ElementsAre("nobody_reads"));
}

TEST(method_options, have_defaults_that_they_may_have) {
  for_each_option([](const recipe& method, const option_spec& x) {
    EXPECT_TRUE(fits(x, x.value)) << x.value;
    const auto found = said(method.name, "");
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_EQ(found->x.training.method.at(x.name), x.value);
  });
}

TEST(method_options, have_two_ends) {
  for_each_option([](const recipe& method, const option_spec& x) {
    const auto [inside, outside] = ends_of(x);
    for (const auto value : inside) {
      const auto found = said(method.name, x.name + " = " + text_of(value));
      ASSERT_TRUE(found) << found.error().context;
      EXPECT_EQ(found->x.training.method.at(x.name), value);
    }
    for (const auto value : outside)
      EXPECT_THAT(refused(method.name, x.name + " = " + text_of(value)),
                  HasSubstr("a.toml:4: '" + x.name + "' must be " + takes(x)
                            + ", found "))
        << value;
    for (const auto* word : {"'nonsense'", "nan", "[1]"})
      EXPECT_THAT(refused(method.name, x.name + " = " + word),
                  HasSubstr(takes(x)));
    if (x.kind != option_kind::number) {
      EXPECT_THAT(refused(method.name, x.name + " = 0.5"), HasSubstr(takes(x)));
    }
  });
}

TEST(method_options, that_are_flags_and_words_are_said_as_these) {
  for_each_option([](const recipe& method, const option_spec& x) {
    const auto value = [&](const std::string& text) {
      const auto found = said(method.name, x.name + " = " + text);
      return found ? found->x.training.method.at(x.name) : -1;
    };
    if (x.kind == option_kind::flag) {
      EXPECT_EQ(value("true"), 1);
      EXPECT_EQ(value("false"), 0);
      EXPECT_EQ(value("1"), 1);
      EXPECT_EQ(value("0.0"), 0);
    }
    for (std::size_t i = 0; i < x.words.size(); ++i) {
      EXPECT_EQ(value('"' + std::string{x.words[i]} + '"'), i);
      EXPECT_EQ(value(std::to_string(i)), i);
    }
  });
}

TEST(method_options, are_written_as_they_are_read) {
  for (const auto* method : all_methods().built) {
    const auto first = said(method->name, "");
    ASSERT_TRUE(first) << first.error().context;
    const auto again = parse_config({write_config(first->x), "b.toml"});
    ASSERT_TRUE(again) << again.error().context;
    EXPECT_TRUE(same(first->x, again->x)) << method->name;
  }
  EXPECT_THAT(write_config(said("pf2lora", "joint = 1\nnormal_start = 2")->x),
              AllOf(HasSubstr("\njoint = true\n"),
                    HasSubstr("\nnormal_start = \"both\"\n"),
                    HasSubstr("\nrank = 8\n")));
}

TEST(method_options, of_one_name_are_listed_once_where_they_are_the_same) {
  std::size_t listed = 0;
  for (const auto& x : all_options(all_methods()))
    for (const auto& name : x.methods) {
      const auto* found = find_option(*all_methods().find(name), x.what.name);
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(*found, x.what);
      ++listed;
    }
  std::size_t declared = 0;
  for_each_option([&](const recipe&, const option_spec&) { ++declared; });
  EXPECT_EQ(listed, declared);
}

TEST(method_options, that_were_ranks_and_shares_name_the_new_key) {
  EXPECT_EQ(refused("pf2lora", "budget = 4"),
            "a.toml:4: method 'pf2lora' has no option 'budget'; for a number "
            "of ranks there is 'rank'");
  EXPECT_EQ(refused("pf2lora", "", {"own_budget=2"}),
            "--set own_budget=2: method 'pf2lora' has no option 'own_budget'; "
            "for a number of ranks there is 'own_rank'");
  EXPECT_EQ(refused("floral", "budget = 1"),
            "a.toml:4: 'budget' must be a number above 0 to below 1, found 1; "
            "for a number of ranks there is 'rank'");
  EXPECT_THAT(refused("pf2lora", "'' = 1"),
              HasSubstr("has no option ''; it has 'adapted', "));
  EXPECT_EQ(refused("floral", "budget = 0.1"), "");
  EXPECT_EQ(refused("floral", "budget = 0.1", {"method=fedavg"}), "");
}

std::vector<std::string> notes_of_ranks(const std::string& options) {
  const auto x = said("hetlora", options, {"clients=4"});
  return x ? x->notes : std::vector<std::string>{x.error().context};
}

// Folders of earlier runs have it.
TEST(method_options, that_is_gone_is_noted) {
  const auto x = said("homlora", "frozen_in_layout = false", {});
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_THAT(
    x->notes,
    ::testing::Contains(
      "a.toml:4: 'options.frozen_in_layout' has no effect: what adapters "
      "stand on is a part of every layout"));
}

TEST(method_options, that_leave_no_rank_to_give_up_are_noted) {
  const auto noted = [](const char* least, const char* most) {
    return std::string{"no client can give up ranks: 'options.rank_min' is "}
           + least + ", and none has more than " + most
           + "; with rank_min = 1 they can, down to one (rank_first and "
             "rank_last say what they begin with)";
  };
  EXPECT_THAT(notes_of_ranks("rank = 16\nrank_min = 16"),
              ElementsAre(noted("16", "16")));
  // Four clients begin with 8, 8, 8 and 8.75 ranks, rounded down.
  EXPECT_THAT(notes_of_ranks("rank = 9\nrank_min = 8"),
              ElementsAre(noted("8", "8")));
  EXPECT_THAT(notes_of_ranks("rank = 16\nrank_min = 8\nrank_first = 4\n"
                             "rank_last = 8"),
              ElementsAre(noted("8", "8")));
  EXPECT_THAT(notes_of_ranks("rank = 32\nrank_min = 16\nrank_per_expert = 8"),
              ElementsAre(noted("16", "16")));
  EXPECT_THAT(notes_of_ranks("rank = 16\nrank_min = 1\nrank_first = 16\n"
                             "rank_last = 16"),
              IsEmpty());
  EXPECT_THAT(notes_of_ranks(""), IsEmpty());
  // 1, 1.25, 1.5 and 1.75.
  EXPECT_THAT(notes_of_ranks("rank = 2\nrank_min = 1"),
              ElementsAre("no client can give up ranks: 'options.rank_min' is "
                          "1, and none has more than 1; a larger 'rank', or "
                          "rank_first and rank_last above one, would do"));
  EXPECT_THAT(notes_of_ranks("keep_share = 1"),
              ElementsAre("no client can give up ranks: 'options.keep_share' "
                          "is 1, and only those beyond it are given up; a "
                          "share below 1 would do"));
  const auto fixed = said("flexlora", "rank = 16\nrank_min = 16");
  ASSERT_TRUE(fixed);
  EXPECT_THAT(fixed->notes, IsEmpty());
}

TEST(method_options, that_say_more_ranks_than_there_are_are_noted) {
  const auto noted = [](const char* name, int line) {
    return "a.toml:" + std::to_string(line) + ": 'options." + std::string{name}
           + "' is 33, and no client has more than 'options.rank', which is "
             "12; a larger 'rank' would do";
  };
  EXPECT_THAT(notes_of_ranks("rank_first = 33\nrank_last = 33"),
              ElementsAre(noted("rank_first", 4), noted("rank_last", 5)));
  EXPECT_THAT(notes_of_ranks("rank_first = 12\nrank_last = 1"), IsEmpty());
  const auto other = said("flexlora", "rank_first = 1\nrank_last = 33");
  EXPECT_THAT(other->notes, ElementsAre(noted("rank_last", 5)));
}

TEST(method_options, that_say_which_layers_are_adapted_are_noted_beside_names) {
  const auto notes = [](const std::vector<std::string>& more) {
    return said("homlora", "adapted = 'blocks'", more)->notes;
  };
  EXPECT_THAT(
    notes({"model.adapt=['c_attn']"}),
    ElementsAre("a.toml:4: 'options.adapted' has no effect: 'model.adapt' "
                "names the layers that have adapters"));
  EXPECT_THAT(notes({}), IsEmpty());
  EXPECT_THAT(said("homlora", "", {"model.adapt=['c_attn']"})->notes,
              IsEmpty());
}

} // namespace troupe::node::method_options_test
