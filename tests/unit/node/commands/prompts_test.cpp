// What a file of prompts says.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node/commands/eval_prompts.hpp"

namespace troupe::test::prompts_test {

TEST(prompts, are_lines) {
  const auto found = node::parse_prompts("p", "one two\r\n\n  \n three");
  ASSERT_TRUE(found) << found.error().context;
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ(found->at(0).text, "one two");
  EXPECT_EQ(found->at(0).line, 1u);
  EXPECT_EQ(found->at(1).text, " three");
  EXPECT_EQ(found->at(1).line, 4u);
  EXPECT_TRUE(found->at(1).meant.empty());
}

TEST(prompts, are_objects_in_a_jsonl) {
  const auto found = node::parse_prompts(
    "p.jsonl", R"({"prompt": "one", "meant": ["1", "I"], "of": 7}
{"prompt": ""})");
  ASSERT_TRUE(found) << found.error().context;
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ(found->at(0).text, "one");
  EXPECT_EQ(found->at(0).meant, (std::vector<std::string>{"1", "I"}));
  EXPECT_EQ(found->at(1).text, "");
}

TEST(prompts, are_refused_by_their_line) {
  for (const std::string line : {"one", "{}", "[]", R"({"prompt": 7})",
                                 R"({"prompt": "x", "meant": "y"})",
                                 R"({"prompt": "x", "meant": [7]})"}) {
    const auto found =
      node::parse_prompts("p.jsonl", "{\"prompt\": \"x\"}\n" + line);
    ASSERT_FALSE(found) << line;
    EXPECT_EQ(found.error().context,
              "p.jsonl:2: is no prompt; {\"prompt\": \"…\"} would do, with "
              "\"meant\": [\"…\"] beside it or without");
  }
  const auto none = node::parse_prompts("p", "\n \n");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().context, "p: has no prompt; a line of text would do");
}

TEST(prompts, have_no_empty_text_that_is_meant) {
  for (const std::string meant : {"\"\"", "\"y\", \" \""}) {
    const auto found = node::parse_prompts(
      "p.jsonl", "{\"prompt\": \"x\", \"meant\": [" + meant + "]}");
    ASSERT_FALSE(found) << meant;
    EXPECT_EQ(found.error().context,
              "p.jsonl:1: a text in 'meant' is empty; words in it, or no "
              "'meant', would do");
  }
  const auto none =
    node::parse_prompts("p.jsonl", R"({"prompt": "x", "meant": []})");
  ASSERT_TRUE(none) << none.error().context;
}

TEST(prompts, of_which_some_are_scored_say_how_many) {
  const node::written_text meant{.of = {.text = "a", .meant = {"b"}}, .said = {}};
  const node::written_text free{.of = {.text = "a"}, .said = {}};
  EXPECT_EQ(node::of_how_many({meant, free}), "of 1 of 2 texts");
  EXPECT_EQ(node::of_how_many({meant, meant}), "");
}

} // namespace troupe::test::prompts_test
