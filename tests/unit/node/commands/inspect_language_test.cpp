// What `troupe data inspect` says of texts of users.

#include "node/commands/inspect_language.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/scratch_folder.hpp"

namespace troupe::node {

namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using parsed = nlohmann::json;

/// Two users of 20 documents of ten bytes and an end.
struct inspected_texts : ::testing::Test {
  inspected_texts() {
    x.data.kind = data_options::format::language;
    x.data.path = at.path();
    x.data.tokenizer = "bytes";
    x.data.context = 4;
    x.clients.clients = 2;
    for (const auto* name : {"de", "fr"}) {
      std::ofstream out{at.path() + "/" + name + ".txt"};
      for (int i = 0; i < 20; ++i)
        out << std::string(10, *name) << '\f';
    }
  }

  std::string said(bool as_json, exit_code wanted = exit_code::ok) const {
    std::ostringstream out, err;
    EXPECT_EQ(inspect_language(x, as_json, {out, err}), wanted);
    return out.str() + err.str();
  }

  const test::scratch_folder at;
  experiment x;
};

} // namespace

TEST_F(inspected_texts, are_not_in_files_of_nobody) {
  EXPECT_EQ(parsed::parse(said(true))["files_of_nobody"], parsed::array());
  std::ofstream{at.path() + "/nl.TXT"} << "een";
  EXPECT_THAT(said(false),
              StartsWith("2 users, windows of 4 tokens out of 257; 0 repeated "
                         "paragraphs are left out\n'nl.TXT' is of no user: a "
                         "name that ends with .txt or .jsonl, or a folder, "
                         "would do\n\nclient "));
  EXPECT_EQ(parsed::parse(said(true))["files_of_nobody"],
            parsed::array({"nl.TXT"}));
}

TEST_F(inspected_texts, have_tokens_and_windows) {
  EXPECT_EQ(said(false),
            "2 users, windows of 4 tokens out of 257; 0 repeated paragraphs "
            "are left out\n\n"
            "client  documents       tokens  windows  validation     test  "
            "user\n"
            "     1         20          176       43           5        5  de\n"
            "     2         20          176       43           5        5  "
            "fr\n");
  const auto all = parsed::parse(said(true));
  EXPECT_EQ(all["success"], true);
  EXPECT_EQ(all["context"], 4);
  EXPECT_EQ(all["vocabulary"], 257);
  EXPECT_EQ(all["dropped_paragraphs"], 0);
  EXPECT_EQ(all["digest"].get<std::string>().size(), 64u);
  ASSERT_EQ(all["clients"].size(), 2u);
  const auto& second = all["clients"][1];
  EXPECT_EQ(second["user"], "fr");
  EXPECT_EQ(second["documents"], 20);
  EXPECT_EQ(second["tokens"], 176);
  EXPECT_EQ(second["validation_tokens"], 22);
  EXPECT_EQ(second["test_windows"], 5);
}

TEST_F(inspected_texts, are_refused_where_they_are_no_utf8) {
  std::ofstream{at.path() + "/fr.txt", std::ios::app} << "a\ncaf\xe9\f";
  EXPECT_THAT(said(false, exit_code::data), HasSubstr("/fr.txt:2: byte "));
}

TEST_F(inspected_texts, that_are_pooled_are_of_one_user) {
  x.data.pooled = true;
  x.clients.clients = 1;
  EXPECT_THAT(said(false), StartsWith("1 user, windows of 4 tokens"));
}

TEST_F(inspected_texts, are_refused_with_the_user) {
  x.data.context = 64;
  EXPECT_THAT(said(false, exit_code::data),
              HasSubstr("user 'de' has 22 tokens for validation"));
  x.clients.clients = 3;
  EXPECT_THAT(said(false, exit_code::configuration),
              HasSubstr("'clients' = 2 would do"));
}

} // namespace troupe::node
