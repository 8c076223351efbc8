// Text that a client brings itself.

#include "node/task/own_text.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/scratch_folder.hpp"

namespace troupe::test {

namespace {

using ::testing::HasSubstr;

const node::example_shape windows{
  .inputs = {8}, .classes = 257, .examples_max = 1000};

struct own_text : ::testing::Test {
  own_text() {
    x.data.kind = node::data_options::format::language;
    x.data.brought = true;
    x.data.tokenizer = "bytes";
    x.data.context = 8;
    x.model.kind = node::model_options::shape::language;
    x.model.layers = 1;
    x.model.embedding = 8;
    x.model.heads = 2;
    x.clients.clients = 3;
    std::filesystem::create_directories(at.path() + "/north.of");
    for (int i = 0; i < 20; ++i)
      std::ofstream{at.path() + "/north.of/" + std::to_string(i)}
        << "here is page " << i;
    std::ofstream out{at.path() + "/south.txt"};
    for (int i = 0; i < 20; ++i)
      out << "there is page " << i << '\f';
  }

  std::string refusal(const std::string& path,
                      const node::example_shape& wanted = windows) const {
    const auto found = node::read_own_data(x, path, wanted);
    EXPECT_FALSE(found);
    if (found)
      return {};
    EXPECT_EQ(found.error().code, errc::invalid_data);
    return found.error().context;
  }

  scratch_folder at;
  node::experiment x;
};

} // namespace

TEST_F(own_text, is_a_folder_or_a_file) {
  for (const auto* name : {"/north.of", "/north.of/", "/south.txt"}) {
    SCOPED_TRACE(name);
    const auto mine = node::read_own_data(x, at.path() + name, windows);
    ASSERT_TRUE(mine) << mine.error().context;
    ASSERT_NE(mine->text, nullptr);
    EXPECT_EQ(mine->text->users().size(), 1u);
    EXPECT_EQ(mine->text->tokens().at(0).documents, 20u);
    EXPECT_EQ(mine->rows.train.size(), 1u);
    EXPECT_FALSE(mine->rows.own_validation.at(0).empty());
    EXPECT_FALSE(mine->rows.test.at(0).empty());
  }
}

TEST_F(own_text, is_what_was_named_whatever_lies_beside_it) {
  std::ofstream{at.path() + "/south.jsonl"} << "no text";
  std::filesystem::create_symlink("gone", at.path() + "/west");
  EXPECT_TRUE(node::read_own_data(x, at.path() + "/south.txt", windows));
  std::ofstream{at.path() + "/east.csv"} << "text";
  EXPECT_EQ(refusal(at.path() + "/east.csv"),
            at.path()
              + "/east.csv: is no text of a user by its ending; a .txt, a "
                ".jsonl or a folder of texts would do");
}

TEST_F(own_text, is_of_one_client_at_its_number) {
  const auto mine = node::read_own_data(x, at.path() + "/south.txt", windows);
  ASSERT_TRUE(mine) << mine.error().context;
  const auto make = [](const auto&, auto,
                       auto) -> result<std::unique_ptr<models::objective>> {
    return fail(errc::unsupported, "there is no torch here");
  };
  const auto made = node::materials_of_text(x, *mine, {2}, windows, make);
  ASSERT_TRUE(made) << made.error().context;
  ASSERT_EQ(made->clients.train.size(), 3u);
  EXPECT_TRUE(made->clients.train[0].empty());
  EXPECT_EQ(made->clients.train[1], mine->rows.train[0]);
  EXPECT_EQ(made->clients.own_validation[1], mine->rows.own_validation[0]);
  EXPECT_TRUE(made->clients.test[2].empty());
  EXPECT_TRUE(made->counts_tokens);
  EXPECT_FALSE(made->data_digest) << "nobody else has it to compare";
}

TEST_F(own_text, that_is_more_than_a_client_may_have_is_refused) {
  auto few = windows;
  few.examples_max = 3;
  EXPECT_THAT(refusal(at.path() + "/south.txt", few),
              HasSubstr("training windows, and a client of this run has 3 at "
                        "most; 'merge.samples_max' of the run says so"));
}

TEST_F(own_text, that_is_not_there_is_refused) {
  EXPECT_THAT(refusal(at.path() + "/west"), HasSubstr("west"));
  std::ofstream{at.path() + "/short.txt"} << "few";
  EXPECT_THAT(refusal(at.path() + "/short.txt"), HasSubstr("user 'short' has"));
}

} // namespace troupe::test
