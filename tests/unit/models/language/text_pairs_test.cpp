// Two texts in one row. What they are compared with is made by
// tests/interop/language/tokens.py.

#include <gmock/gmock.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "models/language/labelled_rows.hpp"
#include "models/language/row_maker.hpp"
#include "models/language/tokenizer.hpp"
#include "tests/support/reference_values.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::models::text_pairs_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using shared_tokenizer = std::shared_ptr<const tokenizer>;

/// The small tokenizer of that name, with a template of `pairs.json`.
shared_tokenizer with_template(const json& processor) {
  const auto small = test::reference_values("small_tokens.json");
  const auto pairs = test::reference_values("pairs.json");
  for (const auto& one : test::list_in(small, "tokenizers"))
    if (*one.find("name")->text() == *pairs.find("tokenizer")->text()) {
      auto file = *one.find("tokenizer");
      file["post_processor"] = processor;
      auto by = parse_tokenizer(file, "some.json");
      EXPECT_TRUE(by) << by.error().context;
      return by ? std::move(*by) : nullptr;
    }
  ADD_FAILURE() << "there is no such tokenizer";
  return nullptr;
}

shared_tokenizer by_name(std::string_view name) {
  const auto pairs = test::reference_values("pairs.json");
  for (const auto& x : test::list_in(pairs, "templates"))
    if (*x.find("name")->text() == name)
      return with_template(*x.find("post_processor"));
  ADD_FAILURE() << "there is no template '" << name << "'";
  return nullptr;
}

shared_tokenizer by_pair(const std::string& pair) {
  const auto read = json::parse(
    R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A"}}],)"
    R"( "pair": [)"
    + pair + R"(], "special_tokens": {"[SEP]": {"ids": [3]}}})");
  EXPECT_TRUE(read) << read.error().context;
  return with_template(read.value_or(json{}));
}

std::string text_item(const std::string& id, int type) {
  return R"({"Sequence": {"id": ")" + id + R"(", "type_id": )"
         + std::to_string(type) + "}}";
}

/// Of each token.
std::vector<std::int64_t> types_of(const made_row& x) {
  std::vector<std::int64_t> all(x.ids.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = x.second_from > 0 && i >= x.second_from ? 1 : 0;
  return all;
}

struct pairs_folder : ::testing::Test {
  pairs_folder() {
    how.files.folder = folder.path();
    how.validation_share = how.test_share = 0;
    how.seed = 1;
  }

  void write(const std::string& lines) const {
    std::ofstream{folder.path() + "/a.jsonl", std::ios::binary} << lines;
  }

  std::shared_ptr<const labelled_rows> load(std::string_view name) const {
    const auto found = labelled_rows::load(how, by_name(name));
    EXPECT_TRUE(found) << found.error().context;
    return found ? *found : nullptr;
  }

  test::scratch_folder folder;
  labelled_options how;
  const std::string two_lines =
    "{\"text\": \"One\", \"second\": \"dog\", \"label\": 0}\n"
    "{\"text\": \"One\", \"second\": \"loud\", \"label\": 1}\n";
};

} // namespace

TEST(text_pairs, are_as_the_reference_has_them) {
  const auto all = test::reference_values("pairs.json");
  ASSERT_EQ(test::list_in(all, "templates").size(), 5u);
  for (const auto& one : test::list_in(all, "templates")) {
    const auto by = with_template(*one.find("post_processor"));
    ASSERT_TRUE(by);
    for (const auto& row : test::list_in(one, "rows")) {
      const auto context = *row.find("context")->count();
      const labelled_text text{.text = *row.find("first")->text(),
                               .second = *row.find("second")->text()};
      SCOPED_TRACE(*one.find("name")->text() + ", " + text.text + ", "
                   + *text.second + ", " + std::to_string(context));
      const auto made =
        row_maker{text_task::classify, context, 0, *by}.make(text, true);
      ASSERT_TRUE(made && *made);
      const std::vector<std::int64_t> found((*made)->ids.begin(),
                                            (*made)->ids.end());
      EXPECT_EQ(found, test::ids_in(*row.find("ids")));
      EXPECT_EQ(types_of(**made), test::ids_in(*row.find("types")));
    }
  }
}

TEST(text_pairs, say_whether_they_are_cut_and_are_none_without_a_token) {
  const auto by = by_name("as BERT");
  const auto made = [&](std::size_t context, const labelled_text& x) {
    return row_maker{text_task::classify, context, 0, *by}
      .make(x, true)
      .value();
  };
  const labelled_text two{.text = "dog", .second = "dog"};
  const auto whole = made(64, two);
  ASSERT_TRUE(whole);
  const auto size = whole->ids.size();
  EXPECT_FALSE(whole->is_cut);
  EXPECT_FALSE(made(size, two)->is_cut);
  EXPECT_TRUE(made(size - 1, two)->is_cut);
  EXPECT_FALSE(made(3, two)) << "the template leaves no room";
  EXPECT_FALSE(made(64, {.text = "", .second = ""}));
}

TEST(text_pairs, have_no_template_that_says_something_else) {
  const auto a = text_item("A", 0), b = text_item("B", 1);
  const std::string sep = R"({"SpecialToken": {"id": "[SEP]", "type_id": 0}})";
  const auto is_read = [](const std::string& pair) {
    return by_pair(pair)->pair() != nullptr;
  };
  EXPECT_TRUE(is_read(a + ", " + sep + ", " + b));
  EXPECT_TRUE(is_read(a + ", " + text_item("B", 0)));
  const std::string later =
    R"({"SpecialToken": {"id": "[SEP]", "type_id": 1}})";
  EXPECT_TRUE(is_read(a + ", " + sep + ", " + later + ", " + b));
  EXPECT_FALSE(is_read(a + ", " + later + ", " + sep + ", " + b));
  EXPECT_FALSE(is_read(a + ", " + text_item("B", 0) + ", " + later));
  EXPECT_FALSE(is_read(a + ", " + b + ", " + sep));
  EXPECT_FALSE(is_read(a + ", " + text_item("B", 2)));
  EXPECT_FALSE(is_read(text_item("A", 1) + ", " + b));
  EXPECT_FALSE(is_read(text_item("B", 0) + ", " + text_item("A", 1)));
  EXPECT_FALSE(is_read(a));
  EXPECT_FALSE(is_read(a + ", " + b + ", " + b));
  EXPECT_FALSE(
    is_read(a + R"(, {"SpecialToken": {"id": "[CLS]", "type_id": 0}}, )" + b));
  EXPECT_EQ(byte_tokenizer()->pair(), nullptr);
}

TEST_F(pairs_folder, has_rows_of_two_types) {
  write(two_lines);
  how.context = 12;
  const auto rows = load("as BERT");
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->in_pairs(), 2u);
  EXPECT_EQ(rows->types(), 2u);
  EXPECT_EQ(rows->left_out(), 0u);
  EXPECT_EQ(rows->label_of(split::train, 1), 1u);
  // [CLS] One [SEP] dog [SEP], and "One" has two tokens.
  EXPECT_EQ(rows->second_from(split::train, 0), 4u);
  std::vector<std::int32_t> first(12), second(12), targets(12);
  rows->read(split::train, 0, first, targets);
  rows->read(split::train, 1, second, targets);
  EXPECT_THAT(std::vector(first.begin(), first.begin() + 4),
              ElementsAre(0, 313, 55, 3));
  EXPECT_NE(first, second);
  write("{\"text\": \"One\", \"label\": 0}\n{\"text\": \"dog\", \"label\": 1}");
  const auto alone = load("as BERT");
  EXPECT_EQ(alone->in_pairs(), 0u);
  EXPECT_EQ(alone->types(), 1u);
  EXPECT_EQ(alone->second_from(split::train, 0), 0u);
}

TEST_F(pairs_folder, is_another_where_types_are) {
  write(two_lines);
  const auto one = load("as RoBERTa"), two = load("a template of two types");
  std::vector<std::int32_t> first(how.context), second(how.context),
    targets(how.context);
  one->read(split::train, 0, first, targets);
  two->read(split::train, 0, second, targets);
  EXPECT_EQ(first, second);
  EXPECT_EQ(one->types(), 1u);
  EXPECT_NE(one->content(), two->content());
}

TEST_F(pairs_folder, draws_a_pair_by_both_of_its_texts) {
  std::string lines;
  for (int i = 0; i < 100; ++i)
    lines += "{\"text\": \"One\", \"second\": \"" + std::to_string(i)
             + "\", \"label\": " + std::to_string(i % 2) + "}\n";
  write(lines);
  how.test_share = 0.5;
  const auto rows = load("as BERT");
  ASSERT_TRUE(rows);
  EXPECT_GT(rows->size(split::train), 20u);
  EXPECT_GT(rows->size(split::test), 20u);
  EXPECT_EQ(rows->left_out(), 0u);
}

TEST_F(pairs_folder, is_refused_without_a_template_for_two) {
  write(two_lines);
  const auto found = labelled_rows::load(how, byte_tokenizer());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().context,
            folder.path()
              + ": user 'a': its texts have second ones, and the tokenizer, "
                "which is bytes, has no template for two texts, with tokens of "
                "one type or of a first and then a second; that of a model "
                "that was made for pairs would do");
}

TEST_F(pairs_folder, has_a_second_text_on_each_line_or_on_none) {
  const auto refusal = [&](const std::string& lines) {
    write(lines);
    const auto found = read_labelled(how.files);
    return found ? "read" : found.error().context;
  };
  const std::string with = "{\"text\": \"x\", \"second\": \"y\", \"label\": 1}",
                    without = "{\"text\": \"x\", \"label\": 1}",
                    null = "{\"text\": \"x\", \"second\": null, \"label\": 1}";
  EXPECT_EQ(refusal(with + "\n" + with), "read");
  EXPECT_EQ(refusal(without + "\n" + null), "read");
  const auto path = folder.path() + "/a.jsonl";
  EXPECT_EQ(refusal(with + "\n" + null),
            path
              + ":2: has no 'second', and texts before it have one; one on "
                "each line, or on none, would do");
  EXPECT_EQ(refusal(without + "\n" + with),
            path
              + ":2: has a 'second', and texts before it have none; one on "
                "each line, or on none, would do");
  for (const std::string wrong : {"5", "[\"y\"]", "false"})
    EXPECT_THAT(
      refusal("{\"text\": \"x\", \"second\": " + wrong + ", \"label\": 1}"),
      HasSubstr(":1: has a 'second' that is no text; "));
  // Of other tasks it is another key.
  how.files.task = text_task::describe;
  EXPECT_EQ(refusal("{\"before\": \"x\", \"text\": \"y\", \"second\": 5}"),
            "read");
}

TEST(text_pairs, keep_a_paragraph_that_stands_in_several) {
  const std::string long_one(90, 'x');
  std::vector<labelled_user> all{
    {.name = "a",
     .texts = {{.text = long_one, .second = "y"},
               {.text = long_one, .second = "z"}}},
    {.name = "b", .texts = {{.text = long_one}, {.text = long_one}}}};
  EXPECT_EQ(drop_repeated(all), 1u);
  ASSERT_EQ(all[0].texts.size(), 2u);
  EXPECT_EQ(all[0].texts[1].text, long_one);
  EXPECT_EQ(all[1].texts.size(), 1u);
}

} // namespace troupe::models::text_pairs_test
