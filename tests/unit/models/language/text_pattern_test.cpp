#include "models/language/text_pattern.hpp"

#include <optional>
#include <string>
#include <string_view>

#include <gmock/gmock.h>

namespace troupe::models::text_pattern_test {

namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

text_pattern pattern(std::string_view x) {
  auto made = text_pattern::compile(x, "some.json");
  EXPECT_TRUE(made) << made.error().context;
  return std::move(*made);
}

/// The first match at a place or behind it.
result<std::optional<text_search::found>>
found_in(std::string_view x, std::string_view text, std::size_t from = 0) {
  const auto by = pattern(x);
  return text_search{by, text}.next(from);
}

/// All matches in turn, each in brackets.
std::string matches(std::string_view x, std::string_view text) {
  const auto by = pattern(x);
  text_search search{by, text};
  std::string all;
  for (std::size_t at = 0; at <= text.size();) {
    const auto found = search.next(at);
    EXPECT_TRUE(found) << found.error().context;
    if (!found || !*found)
      break;
    const auto [begin, end] = **found;
    all += "[" + std::string{text.substr(begin, end - begin)} + "]";
    at = end > at ? end : at + 1;
  }
  return all;
}

std::string refusal(std::string_view x) {
  const auto made = text_pattern::compile(x, "some.json");
  if (made)
    return "compiled";
  EXPECT_EQ(made.error().code, errc::invalid_data);
  return made.error().context;
}

} // namespace

TEST(text_pattern, finds_letters_and_numbers_of_all_scripts) {
  EXPECT_EQ(matches(R"(\p{L}+|\p{N}+)", "ab é1, ß١٢"), "[ab][é][1][ß][١٢]");
}

TEST(text_pattern, looks_ahead) {
  EXPECT_EQ(matches(R"(\s+(?!\S)|\s+)", "a   b"), "[  ][ ]");
  EXPECT_EQ(matches(R"(\s+(?!\S)|\s+)", "a   "), "[   ]");
}

TEST(text_pattern, looks_back_before_the_place_where_it_begins) {
  const auto found = found_in("(?<=a)b", "ab", 1);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->begin, 1U);
  EXPECT_EQ((*found)->end, 2U);
}

TEST(text_pattern, has_the_white_space_of_unicode) {
  EXPECT_EQ(matches(R"(\s)", "\xc2\x85"), "[\xc2\x85]");
  EXPECT_EQ(matches(R"(\s)", "\xe1\xa0\x8e"), ""); // U+180E is none.
  EXPECT_EQ(matches(R"([^\s])", "\xe1\xa0\x8e"), "[\xe1\xa0\x8e]");
  EXPECT_EQ(matches(R"(\S)", "\xe1\xa0\x8e"), "[\xe1\xa0\x8e]");
}

TEST(text_pattern, leaves_a_backslash_before_an_s) {
  EXPECT_EQ(matches(R"(\\s)", R"(\s )"), R"([\s])");
}

// And no line ends at a carriage return, however the library was built.
TEST(text_pattern, begins_and_ends_at_lines) {
  EXPECT_EQ(matches("^.", "a\nb\n"), "[a][b]");
  EXPECT_EQ(matches(".$", "a\nb\r\n"), "[a][\r]");
}

// Release 10.42 of the library would keep the letters that it has.
TEST(text_pattern, lets_go_of_what_is_in_both_of_two_classes) {
  EXPECT_EQ(matches(R"(\P{L}+\P{N})", "1 ."), "[1 .]");
  EXPECT_EQ(matches(R"(\P{N}*?\P{L})", "a.b"), "[a.]");
}

// A repeat of one letter is as many steps as there are letters.
TEST(text_pattern, takes_few_steps_for_repeated_counts) {
  EXPECT_EQ(matches(R"(\p{N}{1,3}+,)", std::string(40, '1') + ".,"), "");
}

TEST(text_pattern, finds_nothing_behind_the_end) {
  const auto at_end = found_in("a*", "b", 1);
  ASSERT_TRUE(at_end && *at_end);
  EXPECT_EQ((*at_end)->begin, 1U);
  const auto behind = found_in("a*", "b", 2);
  ASSERT_TRUE(behind);
  EXPECT_FALSE(*behind);
  const auto in_nothing = found_in("a", "");
  ASSERT_TRUE(in_nothing);
  EXPECT_FALSE(*in_nothing);
}

// Releases of the library differ in the letter at which they stop.
TEST(text_pattern, says_where_it_is_none) {
  EXPECT_THAT(refusal("a(b"),
              StartsWith("some.json: pattern 'a(b' is no regular expression "
                         "at "));
  EXPECT_NE(refusal("\xff"), "compiled");
}

TEST(text_pattern, is_of_so_many_bytes) {
  const auto text = refusal(std::string(65'537, 'a'));
  EXPECT_THAT(text, EndsWith(" has 65537 bytes; at most 65536 would do"));
}

// Of what was said to us, and not of what we say to the library.
TEST(text_pattern, says_a_place_in_what_it_was_told) {
  const auto text = refusal(R"(\s\s\s\s[z-a]x)");
  constexpr std::string_view before = "is no regular expression at ";
  const auto at = text.find(before);
  ASSERT_NE(at, text.npos) << text;
  EXPECT_LE(std::stoi(text.substr(at + before.size())), 14) << text;
}

TEST(text_pattern, gives_up_where_it_would_not_end) {
  const auto found = found_in("(a+)+$", std::string(40, 'a') + "b");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::invalid_data);
  EXPECT_EQ(found.error().context,
            "some.json: pattern '(a+)+$' gives up at byte 0 of 41: more than "
            "7350 steps are taken; a pattern that looks back less, or shorter "
            "texts, would do");
}

// Each place where a match might begin takes few steps of a part, which goes
// through all of the rest, and there are as many places as letters.
TEST(text_pattern, gives_up_where_it_would_take_the_square_of_a_text) {
  const std::string text(20'000, 'a');
  for (const auto* x : {"a*+$(?<!a)", "(?=a*+b)a|(?=a*+$)b"})
    EXPECT_FALSE(found_in(x, text)) << x;
}

// What one search takes the next ones have not.
TEST(text_pattern, gives_up_where_many_searches_take_too_long) {
  const auto by = pattern("a(?=[ab]*c|)");
  const std::string text(20'000, 'a');
  text_search search{by, text};
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (!search.next(at))
      break;
  EXPECT_GT(at, 0U);
  EXPECT_LT(at, text.size());
  // Another text has steps of its own.
  EXPECT_TRUE(found_in("a(?=[ab]*c|)", "ab"));
}

// What a machine's code makes of it has a small stack.
TEST(text_pattern, gives_up_and_does_not_end_where_it_is_deep) {
  std::string text;
  for (int i = 0; i < 300'000; ++i)
    text += "ab\n";
  EXPECT_FALSE(found_in("\\A(?:.|\n)*?z", text));
}

TEST(text_pattern, takes_long_stretches) {
  const std::string spaces(2'000'000, ' '), letters(2'000'000, 'a');
  constexpr const char* x = R"( ?\p{L}+|\s+(?!\S)|\s+)";
  const auto found = found_in(x, spaces + "x");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->end, spaces.size() - 1);
  const auto word = found_in(x, letters);
  ASSERT_TRUE(word && *word);
  EXPECT_EQ((*word)->end, letters.size());
}

} // namespace troupe::models::text_pattern_test
