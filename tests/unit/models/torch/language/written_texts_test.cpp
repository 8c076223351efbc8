// What `troupe eval --model --prompts` finds, by torch.

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "models/continuations.hpp"
#include "models/torch/language/objective.hpp"
#include "node/commands/eval_prompts.hpp"
#include "tests/support/listed_rows.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {

namespace {

/// A model of bytes in a folder, and prompts.
class texts_of_bytes : public ::testing::Test {
protected:
  texts_of_bytes() {
    auto spec = troupe::test::tiny_spec(troupe::test::tiny_gpt2);
    spec.vocabulary = 257;
    base = troupe::test::base_by_rule(spec);
    const auto ok = models::write_base(folder(), spec, base->values());
    EXPECT_TRUE(ok) << ok.error().context;
  }

  std::string folder() const {
    return at.path() + "/model";
  }

  std::string file(const std::string& name, const std::string& text) const {
    const auto path = at.path() + "/" + name;
    std::ofstream{path} << text;
    return path;
  }

  result<written_texts> texts(const std::string& prompts,
                              std::size_t tokens) const {
    return texts_of({.model = folder(),
                     .prompts = prompts,
                     .tokenizer = "bytes",
                     .tokens = tokens},
                    models::make_language_objective);
  }

  troupe::test::scratch_folder at;
  std::shared_ptr<const models::language_base> base;
};

} // namespace

TEST_F(texts_of_bytes, go_on_line_by_line) {
  const auto found = texts(file("prompts", "abc\n\nx\n"), 4);
  ASSERT_TRUE(found) << found.error().context;
  ASSERT_EQ(found->texts.size(), 2u);
  EXPECT_FALSE(found->scores);
  auto model = models::make_language_objective(
    {}, base,
    std::make_shared<const troupe::test::listed_rows>(
      12u, 257u, std::vector<troupe::test::listed_rows::row>{}));
  ASSERT_TRUE(model) << model.error().context;
  const std::vector<std::string> prompts{"abc", "x"};
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const std::vector<std::uint32_t> ids(prompts[i].begin(), prompts[i].end());
    const auto expected =
      (*model)->continuations()->go_on(ids, {.tokens_max = 4, .end = 256});
    ASSERT_TRUE(expected) << expected.error().context;
    EXPECT_EQ(found->texts[i].of.text, prompts[i]);
    EXPECT_EQ(found->texts[i].said,
              std::string(expected->tokens.begin(), expected->tokens.end()));
    EXPECT_EQ(found->texts[i].has_ended, expected->has_ended);
    tokens += expected->tokens.size();
  }
  EXPECT_EQ(found->tokens, tokens);
}

TEST_F(texts_of_bytes, are_scored_where_something_is_meant) {
  const auto first = texts(file("prompts", "abc\n"), 4);
  ASSERT_TRUE(first) << first.error().context;
  const auto found = texts(
    file("p.jsonl", "{\"prompt\": \"abc\", \"meant\": [\"one two three\"]}\n"
                    "{\"prompt\": \"nothing is meant\"}\n"),
    4);
  // The second is longer than the model.
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().context,
            at.path()
              + "/p.jsonl:2: the prompt has 16 tokens, and the model has "
                "places for 12; 11 at most leave room for one more");
  const auto again = texts(
    file("p.jsonl", "{\"prompt\": \"abc\", \"meant\": [\"one two three\"]}\n"
                    "{\"prompt\": \"x\"}\n"),
    4);
  ASSERT_TRUE(again) << again.error().context;
  ASSERT_TRUE(again->scores);
  const std::vector<models::said_and_meant> pair{
    {.said = first->texts.at(0).said, .meant = {"one two three"}}};
  const auto expected = models::score_texts(pair);
  EXPECT_EQ(again->scores->ter, expected.ter);
  EXPECT_EQ(again->scores->bleu, expected.bleu);
}

} // namespace troupe::node
