#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "node/config/toml.hpp"

// What is beyond ASCII never reaches the library, and comes back to the byte.

namespace troupe::node::toml_test {
namespace {

using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  const auto read = read_toml(text);
  return read ? ""
              : std::to_string(read.error().line) + ": " + read.error().what;
}

std::string text_at(const toml::table& table, std::string_view name) {
  const auto* node = table.get(name);
  return node == nullptr || !node->is_string() ? "none"
                                               : node->as_string()->get();
}

TEST(toml, letters_beyond_ascii_come_back_in_texts) {
  const auto read = read_toml("\xEF\xBB\xBF# Größe\n"
                              "a = \"é\" # ü\n"
                              "b = 'x`é`'\n"
                              "c = \"\"\"\nd``@c3a9@é\n漢字\"\"\"\n"
                              "d = ['ö', [\"🎭\"], {x = 'ß'}]\n");
  ASSERT_TRUE(read);
  EXPECT_EQ(text_at(*read, "a"), "é");
  EXPECT_EQ(text_at(*read, "b"), "x`é`");
  EXPECT_EQ(text_at(*read, "c"), "d``@c3a9@é\n漢字");
  const auto& list = *read->get("d")->as_array();
  EXPECT_EQ(list.get(0)->as_string()->get(), "ö");
  EXPECT_EQ(list.get(1)->as_array()->get(0)->as_string()->get(), "🎭");
  EXPECT_EQ(text_at(*list.get(2)->as_table(), "x"), "ß");
}

TEST(toml, letters_beyond_ascii_come_back_in_names_where_they_stood) {
  const auto read = read_toml("'é' = 1\n"
                              "[a.\"ü`\".'ö']\n"
                              "\n"
                              "\"\\u00e9\" = '\\u00e9'\n");
  ASSERT_TRUE(read);
  ASSERT_NE(read->get("é"), nullptr);
  EXPECT_EQ(read->get("é")->source().begin.line, 1U);
  EXPECT_EQ(read->size(), 2U);
  const auto* inner = read->get("a")->as_table()->get("ü`");
  ASSERT_NE(inner, nullptr);
  const auto* innermost = inner->as_table()->get("ö");
  ASSERT_NE(innermost, nullptr);
  EXPECT_EQ(text_at(*innermost->as_table(), "é"), "\\u00e9");
  EXPECT_EQ(innermost->as_table()->get("é")->source().begin.line, 4U);
}

TEST(toml, a_name_given_as_it_is_and_by_an_escape_is_given_twice) {
  EXPECT_EQ(refusal("'é' = 1\n\"\\u00e9\" = 2\n"), "1: 'é' is given twice");
}

TEST(toml, a_code_that_somebody_wrote_by_escapes_is_a_text) {
  const auto read = read_toml("a = \"\\u0060@zz@é\\u0060@c\"\n");
  ASSERT_TRUE(read);
  EXPECT_EQ(text_at(*read, "a"), "`@zz@é`@c");
  EXPECT_THAT(refusal("a = \"é\\u0060@c3@\"\n"), HasSubstr("no UTF-8"));
}

TEST(toml, letters_beyond_ascii_anywhere_else_are_refused) {
  for (const auto* text :
       {"x = 2é\n", "é = 1\n", "[é]\n", "x = [39586'e\xEF\xBB\xBFo [\n",
        "x = ('é'\n", "x = \"a\"'é'\n", "N=2ex=\"\xEF\xBB\x9F\n",
        "[\"\"\"\xEF\xBB\x9F\n", "x = 1.'é'\n", "x = 12:'é\n", "x = 0x'é'\n"})
    EXPECT_THAT(refusal(text), ::testing::StartsWith("1: ")) << text;
  EXPECT_EQ(refusal("\nx = 2é\n"),
            "2: letters beyond ASCII stand in quotes or comments alone");
  EXPECT_THAT(refusal("\nx = 2'é'\n"), HasSubstr("2: "));
}

TEST(toml, what_is_no_utf_8_is_refused) {
  EXPECT_EQ(refusal("a = 1\nb = '\xC3'\n"), "2: this line is no UTF-8");
  EXPECT_EQ(refusal("# \xFF"), "1: this line is no UTF-8");
  EXPECT_EQ(refusal("a = 'é'\n"), "");
  EXPECT_EQ(refusal(""), "");
}

} // namespace
} // namespace troupe::node::toml_test
