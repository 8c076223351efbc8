#include "models/language/documents.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "tests/support/scratch_folder.hpp"

namespace troupe::models::documents_test {

namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct texts_of_users : ::testing::Test {
  void write(const std::string& name, const std::string& text) const {
    const auto path = std::filesystem::path{at.path()} / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path, std::ios::binary} << text;
  }

  std::vector<std::string> texts(const std::string& user) const {
    const auto found = read_users(at.path(), {user});
    EXPECT_TRUE(found) << found.error().context;
    std::vector<std::string> out;
    if (found)
      for (const auto& x : found->front().documents)
        out.push_back(x.text);
    return out;
  }

  std::string refusal(const std::vector<std::string>& users = {}) const {
    const auto found = read_users(at.path(), users);
    if (found)
      return "read";
    EXPECT_EQ(found.error().code, errc::invalid_data);
    EXPECT_THAT(found.error().context, HasSubstr(at.path()));
    return found.error().context.substr(at.path().size());
  }

  const test::scratch_folder at;
};

/// Of 80 letters.
std::string paragraph(char letter) {
  return std::string(80, letter) + "\n";
}

} // namespace

TEST_F(texts_of_users, are_in_folders_and_files) {
  write("nl/b.txt", "tweede");
  write("nl/a.1", "eerste");
  write("nl/.hidden", "nooit");
  write("de.txt", "eins\fzwei\f \n\fdrei");
  write("fr.jsonl", "{\"text\": \"un\"}\n\n{\"text\": \"deux\", \"label\": 3}");
  write("SOURCES.json", "{}");
  write(".git/x", "no");
  const auto names = names_of_users(at.path());
  ASSERT_TRUE(names) << names.error().context;
  EXPECT_THAT(*names, ElementsAre("de", "fr", "nl"));
  EXPECT_THAT(texts("de"), ElementsAre("eins", "zwei", "drei"));
  EXPECT_THAT(texts("fr"), ElementsAre("un", "deux"));
  EXPECT_THAT(texts("nl"), ElementsAre("eerste", "tweede"));
}

TEST_F(texts_of_users, are_in_folders_of_any_depth) {
  for (const auto* name : {"b.txt", "old/a.txt", "old/older/c", "old.txt"})
    write(std::string{"ana/"} + name, name);
  write("ana/old/.hidden", "nooit");
  write("ana/.old/a.txt", "nooit");
  write("far/a", "weit");
  std::filesystem::create_symlink(at.path() + "/far", at.path() + "/ana/far");
  std::filesystem::create_symlink(at.path() + "/ana",
                                  at.path() + "/ana/old/ana");
  const auto found = read_users(at.path(), {"ana"});
  ASSERT_TRUE(found) << found.error().context;
  std::vector<std::string> texts, sources;
  for (const auto& x : found->front().documents) {
    texts.push_back(x.text);
    sources.push_back(x.source);
  }
  EXPECT_THAT(sources,
              ElementsAre("b.txt", "old.txt", "old/a.txt", "old/older/c"));
  EXPECT_EQ(texts, sources);
}

TEST_F(texts_of_users, come_in_the_order_in_which_they_are_named) {
  write("a.txt", "x");
  write("b.txt", "y");
  write("c.txt", "z");
  const auto found = read_users(at.path(), {"c", "a"});
  ASSERT_TRUE(found) << found.error().context;
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].name, "c");
  EXPECT_EQ((*found)[1].name, "a");
  const auto all = read_users(at.path(), {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 3u);
}

TEST_F(texts_of_users, say_which_documents_are_of_one_source) {
  write("x.jsonl", "{\"text\": \"a\", \"source\": \"2\"}\n"
                   "{\"text\": \"b\"}\n"
                   "{\"text\": \"c\", \"source\": \"2\"}\n");
  const auto found = read_users(at.path(), {});
  ASSERT_TRUE(found) << found.error().context;
  const auto& xs = found->front().documents;
  ASSERT_EQ(xs.size(), 3u);
  EXPECT_EQ(xs[0].source, xs[2].source);
  // The second line is no document of the source "2".
  EXPECT_NE(xs[0].source, xs[1].source);
}

TEST_F(texts_of_users, say_a_source_by_a_number) {
  write("x.jsonl", "{\"text\": \"a\", \"source\": 7}\n"
                   "{\"text\": \"b\", \"source\": \"7\"}\n"
                   "{\"text\": \"c\", \"source\": null}\n");
  const auto found = read_users(at.path(), {});
  ASSERT_TRUE(found) << found.error().context;
  const auto& xs = found->front().documents;
  ASSERT_EQ(xs.size(), 3u);
  EXPECT_EQ(xs[0].source, "=7");
  EXPECT_EQ(xs[1].source, "=7");
  EXPECT_EQ(xs[2].source, "3"); // It has none, and is the third line.
  for (const std::string wrong : {"1.5", "-1", "true", "[7]", "{\"a\":7}"}) {
    write("x.jsonl", "{\"text\": \"a\", \"source\": " + wrong + "}\n");
    EXPECT_EQ(refusal(),
              "/x.jsonl:1: has " + wrong
                + " under 'source'; a text or a whole number from 0 to "
                  "18446744073709551615 would do, or no such key");
  }
}

TEST_F(texts_of_users, do_not_matter_beside_those_that_are_listed) {
  write("a.txt", "eins");
  write("b.txt", "zwei");
  write("b.jsonl", "{\"text\": \"drei\"}\n");
  std::filesystem::create_symlink("gone", at.path() + "/c.txt");
  const auto found = read_users(at.path(), {"a"});
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->front().documents.front().text, "eins");
  EXPECT_EQ(refusal({"b"}), ": user 'b' is there twice, as 'b.jsonl' and "
                            "'b.txt'; one of them would do");
  EXPECT_EQ(refusal({"c"}),
            "/c.txt: is a link to nothing that is there; one of these, or a "
            "name that begins with a dot, would do");
}

TEST_F(texts_of_users, of_one_path_are_that_user_alone) {
  write("b.txt", "zwei");
  write("b.jsonl", "{\"text\": \"drei\"}\n");
  write("d/1", "vier");
  std::filesystem::create_symlink("gone", at.path() + "/c.txt");
  for (const auto& [name, text] :
       {std::pair{"/b.txt", "zwei"}, std::pair{"/b.jsonl", "drei"},
        std::pair{"/d", "vier"}, std::pair{"/d/", "vier"},
        std::pair{"/d/.", "vier"}, std::pair{"/d/../d", "vier"}}) {
    const auto found = read_one_user(at.path() + name);
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_EQ(found->name, std::string(1, name[1]));
    ASSERT_EQ(found->documents.size(), 1u);
    EXPECT_EQ(found->documents[0].text, text);
  }
  write("a.csv", "text,label");
  const auto other = read_one_user(at.path() + "/a.csv");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().context,
            at.path()
              + "/a.csv: is no text of a user by its ending; a .txt, a .jsonl "
                "or a folder of texts would do");
}

TEST_F(texts_of_users, are_looked_at_for_letters_where_that_is_asked) {
  write("a.txt", "caf\xe9");
  EXPECT_TRUE(texts_in(at.path() + "/a.txt"));
  const auto found = texts_in(at.path() + "/a.txt", letter_rule::utf8);
  ASSERT_FALSE(found);
  EXPECT_EQ(
    found.error().context,
    at.path()
      + "/a.txt:1: byte 3 of the file, '\\xe9', is no UTF-8; what iconv "
        "-f LATIN1 -t UTF-8 makes of it would do, where it is "
        "Latin-1");
}

TEST_F(texts_of_users, are_refused_with_the_place) {
  EXPECT_EQ(refusal(), ": has texts of nobody; a folder that has a sub-folder, "
                       "a .txt or a .jsonl of each user would do");
  write("a.csv", "text,label");
  const auto file = read_users(at.path() + "/a.csv", {});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().context,
            at.path()
              + "/a.csv: is a file, and no folder of users; a folder that has "
                "a sub-folder, a .txt or a .jsonl of each user would do");
  EXPECT_EQ(refusal(), ": has texts of nobody, and has 'a.csv'; a folder that "
                       "has a sub-folder, a .txt or a .jsonl of each user "
                       "would do");
  write("de.txt", "eins");
  EXPECT_EQ(refusal({"it"}), ": has no user 'it'; there are 'de'");
  EXPECT_EQ(refusal({"de, it"}), ": has no user 'de, it'; there are 'de'; "
                                 "several are a list, as ['A', 'B']");
  write("de/a", "eins");
  EXPECT_EQ(refusal(), ": user 'de' is there twice, as 'de' and 'de.txt'; one "
                       "of them would do");
  std::filesystem::remove_all(at.path() + "/de");
  write("nl.txt", " \n\f\n");
  EXPECT_EQ(refusal(), "/nl.txt: user 'nl' has no text; a document would do");
  write("nl.txt", "een");
  write("x.jsonl", "{\"text\": \"a\"}\n{\"title\": \"b\"}\n");
  EXPECT_EQ(refusal(),
            "/x.jsonl:2: is no document: it has no 'text', and has 'title'; "
            "{\"text\": \"…\"} would do");
  write("x.jsonl", "{\"text\": 5}\n");
  EXPECT_EQ(refusal(), "/x.jsonl:1: is no document: its 'text' is no text; "
                       "{\"text\": \"…\"} would do");
  write("x.jsonl", "{\"text\": \"a\"}\n{\"text\": \"a\"\n");
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("/x.jsonl:2: is no document: it is no JSON from "
                              "byte "),
                    HasSubstr(" on; {\"text\": \"…\"} would do")));
  for (const std::string list : {"[\n{\"text\": \"a\"}\n]\n",
                                 "[{\"text\": \"a\"}, {\"text\": \"b\"}]"}) {
    write("x.jsonl", list);
    EXPECT_THAT(refusal(), AllOf(HasSubstr("/x.jsonl:1: is no document: it is "
                                           "no "),
                                 HasSubstr("; {\"text\": \"…\"} a line, and no "
                                           "list around them, would do")));
  }
  write("x.jsonl", "{\"text\": \"caf\xe9\"}\n");
  EXPECT_EQ(refusal(), "/x.jsonl:1: is no document: it is no UTF-8; {\"text\": "
                       "\"…\"} would do");
}

TEST_F(texts_of_users, are_refused_where_a_byte_is_no_letters) {
  const std::string otherwise =
    ", is no UTF-8; what iconv -f LATIN1 -t UTF-8 makes of it would do, where "
    "it is Latin-1";
  write("nl.txt", "\xc3\xa9\xc3\xa9n\ncaf\xe9\n");
  EXPECT_EQ(refusal(), "/nl.txt:2: byte 9 of the file, '\\xe9'" + otherwise);
  write("nl.txt", "een");
  write("de/a.txt", "eins");
  write("de/b.txt", "zwei \xc3");
  EXPECT_EQ(refusal(), "/de/b.txt:1: byte 5 of the file, '\\xc3'" + otherwise);
  for (const std::string begin : {"ff", "fe"}) {
    write("de/b.txt", begin == "ff" ? "\xff\xfez" : "\xfe\xff");
    EXPECT_EQ(refusal(), "/de/b.txt:1: byte 0 of the file, '\\x" + begin
                           + "', is no UTF-8; what iconv -f UTF-16 -t UTF-8 "
                             "makes of it would do");
  }
}

TEST_F(texts_of_users, are_not_waited_for) {
  write("de/a.txt", "eins");
  const std::string would_do =
    "; one of these, or a name that begins with a dot, would do";
  for (const std::string place : {"/pipe.txt", "/de/pipe"}) {
    const auto path = at.path() + place;
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(refusal(), place + ": is neither a file nor a folder" + would_do);
    std::filesystem::remove(path);
    std::filesystem::create_symlink("nowhere", path);
    EXPECT_EQ(refusal(),
              place + ": is a link to nothing that is there" + would_do);
    std::filesystem::remove(path);
  }
  std::filesystem::create_symlink("nowhere", at.path() + "/de/.hidden");
  EXPECT_EQ(refusal(), "read");
  const auto none = read_users(at.path() + "/none", {});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().context, HasSubstr("/none: cannot be read: "));
}

TEST_F(texts_of_users, may_lie_behind_links) {
  write("far/a", "weit");
  const auto user = at.path() + "/users";
  std::filesystem::create_directories(user);
  std::filesystem::create_symlink(at.path() + "/far", user + "/de");
  const auto found = read_users(user, {});
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->front().documents.front().text, "weit");
}

TEST(repeated_paragraphs, stay_where_they_come_first) {
  const auto a = paragraph('a'), b = paragraph('b');
  std::vector<user_text> users{
    {"x", {{"own\n\n" + a + "\n" + b, "1"}}},
    {"y", {{a + "\n\nother\n", "1"}, {"short\n\n" + b + "\nend", "2"}}}};
  EXPECT_EQ(drop_repeated(users), 2u);
  EXPECT_EQ(users[0].documents[0].text, "own\n\n" + a + "\n" + b);
  EXPECT_EQ(users[1].documents[0].text, "other\n");
  EXPECT_EQ(users[1].documents[1].text, "short\n\nend");
  EXPECT_EQ(drop_repeated(users), 0u);
}

TEST(repeated_paragraphs, may_be_twice_in_one_document) {
  const auto a = paragraph('a');
  const auto text = a + "\n" + a;
  std::vector<user_text> users{{"x", {{text, "1"}}}};
  EXPECT_EQ(drop_repeated(users), 0u);
  EXPECT_EQ(users[0].documents[0].text, text);
}

TEST(repeated_paragraphs, are_of_80_bytes) {
  const std::string shorter(79, 'a');
  std::vector<user_text> users{{"x", {{shorter, "1"}, {shorter, "2"}}}};
  EXPECT_EQ(drop_repeated(users), 0u);
  // Blanks around it make none longer, and none another one.
  const std::string longer(80, 'a');
  std::vector<user_text> others{
    {"x", {{longer, "1"}, {"  " + longer + " \r\n", "2"}}}};
  EXPECT_EQ(drop_repeated(others), 1u);
  EXPECT_EQ(others[0].documents.size(), 1u);
}

} // namespace troupe::models::documents_test
