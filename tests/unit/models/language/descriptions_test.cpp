// Rows of descriptions as who writes them is asked.

#include "models/language/descriptions.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_tokenizers.hpp"

namespace troupe::models::descriptions_test {

namespace {

using ::testing::ElementsAre;
using texts = std::vector<std::string>;

struct described_things : ::testing::Test {
  void write(const std::string& lines) const {
    std::ofstream{folder.path() + "/a.jsonl"} << lines;
  }

  std::vector<description> found(std::size_t context,
                                 std::shared_ptr<const tokenizer> by) const {
    const auto rows = labelled_rows::load(
      {.files = {.folder = folder.path(), .task = text_task::describe},
       .context = static_cast<std::uint32_t>(context),
       .validation_share = 0,
       .test_share = 0},
      by);
    EXPECT_TRUE(rows) << rows.error().context;
    if (!rows)
      return {};
    const auto all = descriptions_of(**rows, split::train,
                                     (*rows)->clients().train.at(0), *by);
    EXPECT_TRUE(all) << all.error().context;
    return all.value_or(std::vector<description>{});
  }

  test::scratch_folder folder;
};

} // namespace

TEST_F(described_things, stand_once_with_all_texts_that_would_do) {
  write("{\"before\": \"n: \", \"text\": \"ab\"}\n"
        "{\"before\": \"m: \", \"text\": \"a\"}\n"
        "{\"before\": \"n: \", \"text\": \"cd\"}\n");
  const auto all = found(9, byte_tokenizer());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(all[0].prompt, ElementsAre('n', ':', ' '));
  EXPECT_EQ(all[0].meant, (texts{"ab", "cd"}));
  EXPECT_EQ(all[0].cut, 0u);
  EXPECT_THAT(all[1].prompt, ElementsAre('m', ':', ' '));
  EXPECT_EQ(all[1].meant, texts{"a"});
  EXPECT_EQ(end_of_descriptions(*byte_tokenizer()), 256u);
}

// Only what is within the context is there to be meant.
TEST_F(described_things, may_be_cut_off_or_have_nothing_before_them) {
  write("{\"before\": \"n: \", \"text\": \"abcd\"}\n"
        "{\"before\": \"\", \"text\": \"xyz\"}\n");
  const auto all = found(5, byte_tokenizer());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].meant, texts{"ab"});
  EXPECT_EQ(all[0].cut, 1u);
  // A text goes on from a token: the first one is given.
  EXPECT_THAT(all[1].prompt, ElementsAre('x'));
  EXPECT_EQ(all[1].meant, texts{"yz"});
  EXPECT_EQ(all[1].cut, 0u);
}

TEST_F(described_things, end_as_their_rows_do) {
  auto file = test::byte_level_json({{"h", "e"}});
  test::add_token(file, "<s>", 257, true);
  test::add_token(file, "</s>", 258, true);
  file.add("post_processor",
           json::parse(R"({"type": "BertProcessing", "cls": ["<s>", 257],)"
                       R"( "sep": ["</s>", 258]})")
             .value());
  const auto by = parse_tokenizer(file, "file");
  ASSERT_TRUE(by) << by.error().context;
  write("{\"before\": \"h\", \"text\": \"hey\"}\n");
  const auto all = found(8, *by);
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all[0].prompt.size(), 2u);
  EXPECT_EQ(all[0].prompt[0], 257u);
  EXPECT_EQ(all[0].meant, texts{"hey"});
  EXPECT_EQ(end_of_descriptions(**by), 258u);
}

} // namespace troupe::models::descriptions_test
