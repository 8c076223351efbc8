#include "models/language/told_pattern.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>

#include "models/language/text_pattern.hpp"

namespace troupe::models::told_pattern_test {

namespace {

using ::testing::HasSubstr;

std::string as_told(std::string_view x) {
  const auto made = told(x);
  EXPECT_TRUE(made) << made.error().context;
  return made ? made->text : "";
}

/// What it says that is found, and where; nothing where it is read.
std::string not_read(std::string_view x) {
  const auto made = told(x);
  if (made)
    return "";
  EXPECT_EQ(made.error().code, errc::invalid_data);
  const auto& text = made.error().context;
  const auto end = text.find(", which is not read here as in Oniguruma, "
                             "whose patterns these are; ");
  EXPECT_NE(end, text.npos) << text;
  EXPECT_TRUE(text.ends_with(" would do")) << text;
  return text.substr(0, end);
}

} // namespace

TEST(told_pattern, is_as_it_was_where_both_read_alike) {
  for (const auto* x : {R"('s|'t| ?\p{L}+| ?\p{N}{1,3})",
                        R"((?i:'s|'ll)|(?=a)(?!b)(?<=c)\p{L})",
                        R"([a-z0-9_\-]++\p{Lu}*?)", R"(\A(?>a|ab){2,3}?\z)"})
    EXPECT_EQ(as_told(x), x);
}

TEST(told_pattern, repeats_what_is_counted) {
  EXPECT_EQ(as_told("a{2,3}+b"), "(?:a{2,3})+b");
  EXPECT_EQ(as_told("(a|b){2}+?"), "(?:(a|b){2})+?");
  EXPECT_EQ(as_told("[ab]{2}?"), "(?:[ab]{2})?");
  EXPECT_EQ(as_told("a{2,2}?a{,3}"), "a{2,2}?a{0,3}");
  EXPECT_EQ(as_told("a{1,3}+b{1,}++"), "a+b++");
  EXPECT_EQ(as_told("a{1,3}+?"), "(?:a{1,3})+?");
  EXPECT_EQ(as_told("a{x}{,}"), R"(a\{x\}\{,\})");
  EXPECT_EQ(as_told("(b(a{2}+){3}+|c{4}?){2}?"),
            "(?:(b(?:((?:a{2})+){3})+|(?:c{4})?){2})?");
}

TEST(told_pattern, has_sets_in_sets) {
  EXPECT_EQ(as_told("[^a[bc][[d]e-f]]"), "[^abcde-f]");
  EXPECT_EQ(as_told("[a-c&&[^b]]"), "(?:(?=[a-c])[^b])");
  EXPECT_EQ(as_told("[^a-c&&b]"), "(?:(?!(?=[a-c])[b])(?s:.))");
  EXPECT_EQ(as_told("[a[^b]]"), "(?:[a]|[^b])");
  EXPECT_EQ(as_told("[]a-]"), R"([\]a\-])");
}

TEST(told_pattern, holds_an_option_to_the_end_of_its_group) {
  EXPECT_EQ(as_told("a(?i)b|c"), "a(?i:b|c)");
  EXPECT_EQ(as_told("(a(?i)b|c)d(?m)."), "(a(?i:b|c))d(?s:.)");
  EXPECT_EQ(as_told("(?i)a(?-i)s(?i:s)"), "(?i:a(?-i:s(?i:s)))");
}

TEST(told_pattern, says_where_it_is_not_read_as_its_author_meant) {
  constexpr std::pair<const char*, const char*> cases[]{
    {"a(?i:ss)", "has 's' at 6"},
    {"(?i:s(?:t))", "has 't' at 8"},
    {R"((?i:f\x{69}))", R"(has '\x{69}' at 5)"},
    {"(?i:é)", "has 'é' at 4"},
    {"(?i:[a-é])", "has 'a-é' at 5"},
    {R"((?i)x[\p{L}])", R"(has '\p{L}' at 6)"},
    {R"((?i:[^\w]))", R"(has '\w' at 6)"},
    {"(?i:[a&&b])", "has '[a&&b]' at 4"},
    {R"((?i:\p{Lu}))", R"(has '\p{Lu}' at 4)"},
    {R"((a)(?i:\1))", R"(has '\1' at 7)"},
    {R"((a\1))", R"(has '\1' at 2)"},
    {R"((a)\10)", R"(has '\1' at 3)"},
    {R"(x\K)", R"(has '\K' at 1)"},
    {R"(\Q.\E)", R"(has '\Q' at 0)"},
    {R"(\R)", R"(has '\R' at 0)"},
    {R"(\0)", R"(has '\0' at 0)"},
    {R"(\xe9)", R"(has '\xe9' at 0)"},
    {R"(\u41)", R"(has '\u41' at 0)"},
    {R"(\x{d800})", R"(has '\x{d800}' at 0)"},
    {R"(\pL)", R"(has '\pL' at 0)"},
    {R"(\p{sc=Han})", R"(has '\p{sc=Han}' at 0)"},
    {R"([\w-z])", R"(has '-' at 3)"},
    {"[a-[b]]", "has 'a-' at 1"},
    {"[[:punct:]]", "has '[:punct:]' at 1"},
    {"[a&&]", "has '[a&&]' at 0"},
    {"[&&a]", "has '&&' at 1"},
    {"x[ab", "has '[' at 1"},
    {"a**", "has '*' at 2"},
    {"a{1,2}{3}", "has '{3}' at 6"},
    {"|{2}+", "has '{2}' at 1"},
    {"(?x) a", "has '(?x' at 0"},
    {"(?s).", "has '(?s' at 0"},
    {"(?<n>a)", "has '(?<' at 0"},
    {"(?#a)", "has '(?#' at 0"},
    {"(*UCP)a", "has '(*' at 0"},
    {"(?", "has '(?' at 0"},
  };
  for (const auto& x : cases)
    EXPECT_EQ(not_read(x.first), x.second);
}

TEST(told_pattern, says_it_with_the_file) {
  const auto made = text_pattern::compile(R"(a\K)", "some.json");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().context,
            R"(some.json: pattern 'a\K' has '\K' at 1, which is not read here )"
            "as in Oniguruma, whose patterns these are; what it stands for in "
            R"(letters, or \x{HHHH}, would do)");
}

TEST(told_pattern, is_not_read_deeper_than_a_stack) {
  EXPECT_THAT(not_read(std::string(60'000, '[')), HasSubstr(" at 16"));
  EXPECT_EQ(as_told(std::string(16, '[') + "a" + std::string(16, ']')), "[a]");
  EXPECT_EQ(as_told(std::string(30'000, '(')).size(), 30'000U);
}

TEST(told_pattern, knows_the_places_of_what_it_tells) {
  const auto made = told(R"(\w((a){2}?b){3}+c)");
  ASSERT_TRUE(made);
  ASSERT_EQ(made->places.size(), made->text.size());
  constexpr std::pair<const char*, std::size_t> parts[]{
    {"(?:((?:(a)", 2}, {"(?:(a)", 3}, {"{2}", 6}, {"{3}", 12}, {"+c", 15}};
  for (const auto& x : parts)
    EXPECT_EQ(made->places[made->text.find(x.first)], x.second) << x.first;
  EXPECT_EQ(made->places.back(), 16U);
}

} // namespace troupe::models::told_pattern_test
