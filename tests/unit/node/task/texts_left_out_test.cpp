// What of texts is left out, or learned as nobody may have meant it.

#include "node/task/texts_left_out.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "node/task/language.hpp"
#include "node/task/own_text.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::test::texts_left_out_test {

namespace {

using node::about_left_out;

struct run_over_texts : ::testing::Test {
  run_over_texts() {
    x.data.kind = node::data_options::format::language;
    x.data.path = at.path();
    x.data.tokenizer = "bytes";
    x.data.context = 8;
    x.model.kind = node::model_options::shape::language;
    x.model.layers = 1;
    x.model.embedding = 8;
    x.model.heads = 2;
    x.clients.clients = 1;
    x.partition.kind = node::partition_options::rule::natural;
    x.method = "fedavg";
  }

  void classify() {
    x.data.text_task = models::text_task::classify;
    x.data.validation_share = x.data.test_share = 0.25;
    x.model.architecture = node::model_options::architecture_rule::bert;
    for (int i = 0; i < 60; ++i)
      add_labelled("text " + std::to_string(i), i % 2);
  }

  void add_labelled(const std::string& text, int label) const {
    std::ofstream{at.path() + "/a.jsonl", std::ios::app}
      << R"({"text": ")" << text << R"(", "label": )" << label << "}\n";
  }

  void add_documents(const std::string& all) const {
    std::ofstream{at.path() + "/a.txt", std::ios::app} << all;
  }

  void stream() const {
    for (int i = 0; i < 20; ++i)
      add_documents("line " + std::to_string(i) + '\f');
  }

  static result<std::unique_ptr<models::objective>>
  none(const models::language_config&,
       std::shared_ptr<const models::language_base>,
       std::shared_ptr<const models::token_rows>) {
    return fail(errc::unsupported, "there is no torch here");
  }

  /// What a run over them says.
  std::string said() const {
    const auto found = node::language_of(x, none);
    EXPECT_TRUE(found) << found.error().context;
    return found && found->left_out ? about_left_out(*found->left_out)
                                    : "nobody knows";
  }

  const scratch_folder at;
  node::experiment x;
};

const std::string repeated(100, 'x');

} // namespace

TEST_F(run_over_texts, says_nothing_where_all_are_learned) {
  stream();
  EXPECT_EQ(said(), "");
}

TEST_F(run_over_texts, says_nothing_where_all_that_have_labels_are_learned) {
  classify();
  EXPECT_EQ(said(), "");
}

TEST_F(run_over_texts, says_which_documents_are_repeats) {
  stream();
  add_documents(repeated + "\fcaf\f" + repeated + "\ft\f");
  EXPECT_EQ(said(), "1 repeated paragraph is left out of what is learned from "
                    "and tested with; troupe data inspect says more");
}

TEST_F(run_over_texts, says_how_many_with_labels_are_blank_or_repeats) {
  classify();
  for (const auto& text : {std::string{}, repeated, repeated, repeated})
    add_labelled(text, 0);
  EXPECT_EQ(said(), "2 repeated paragraphs and 3 blank or wholly repeated "
                    "texts are left out of what is learned from and tested "
                    "with; troupe data inspect says more");
}

TEST_F(run_over_texts, says_which_files_are_of_no_user) {
  stream();
  for (const auto* name : {"carl.TXT", "dora.md", ".hidden"})
    std::ofstream{at.path() + '/' + name} << "text";
  const std::string line = "'carl.TXT' and 'dora.md' are of no user: a name "
                           "that ends with .txt or .jsonl, or a folder, would "
                           "do";
  EXPECT_EQ(said(), line);
  add_documents(repeated + "\f" + repeated + "\f");
  EXPECT_EQ(said(), line
                      + "; 1 repeated paragraph is left out of what is learned "
                        "from and tested with; troupe data inspect says more");
  x.data.users = {"a"};
  EXPECT_THAT(said(), ::testing::StartsWith("1 repeated paragraph"));
}

TEST_F(run_over_texts, says_which_files_beside_labelled_ones_are_of_no_user) {
  classify();
  for (const auto* name : {"1.md", "2.md", "3.md", "4.md", "5.md"})
    std::ofstream{at.path() + '/' + name} << "text";
  EXPECT_EQ(said(), "'1.md', '2.md', '3.md', '4.md' and 1 other file are of no "
                    "user: a name that ends with .txt or .jsonl, or a folder, "
                    "would do");
}

TEST_F(run_over_texts, speaks_of_those_that_are_brought_where_they_are) {
  stream();
  add_documents(repeated + "\f" + repeated + "\f");
  x.data.brought = true;
  EXPECT_EQ(said(), "nobody knows");
  const node::example_shape windows{
    .inputs = {8}, .classes = 257, .examples_max = 1000};
  const auto mine = node::read_own_text(x, at.path() + "/a.txt", windows);
  ASSERT_TRUE(mine) << mine.error().context;
  const auto made = node::materials_of_text(x, *mine, {1}, windows, none);
  ASSERT_TRUE(made && made->left_out);
  EXPECT_EQ(about_left_out(*made->left_out),
            "1 repeated paragraph is left out of what is learned from and "
            "tested with; troupe data inspect says more");
}

TEST(texts_left_out, have_each_count_in_one_line_and_in_json) {
  const node::texts_left_out all{.paragraphs = 1, .texts = 2, .rows = 1};
  EXPECT_EQ(about_left_out(all),
            "1 repeated paragraph, 2 blank or wholly repeated texts and 1 row "
            "are left out of what is learned from and tested with; troupe data "
            "inspect says more");
  EXPECT_EQ(to_json(all).dump(), R"({"paragraphs":1,"texts":2,"rows":1})");
}

} // namespace troupe::test::texts_left_out_test
