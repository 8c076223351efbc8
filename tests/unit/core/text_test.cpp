#include "core/text.hpp"

#include <gtest/gtest.h>

namespace troupe {

TEST(printable, leaves_letters_lines_and_tabs) {
  for (const auto* x : {"", "plain\n\ttext", "é ü 漢字 🙂", "a|b<c>'d'"})
    EXPECT_EQ(printable(x), x);
}

TEST(printable, shows_what_would_act_on_a_terminal) {
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(printable("a\rb\bc\x7f"), "a\\x0db\\x08c\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");          // Of one byte more.
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae"); // Turns the line.
  EXPECT_EQ(printable(std::string_view{"\0", 1}), "\\x00");
}

TEST(printable, shows_what_is_no_utf_8) {
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(printable("\xed\xa0\x80z"), "\\xed\\xa0\\x80z");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(in_quotes, is_one_line) {
  EXPECT_EQ(in_quotes("a\nb\x1b"), "'a\\x0ab\\x1b'");
  EXPECT_EQ(in_quotes("déjà"), "'déjà'");
}

TEST(short_digest, is_its_beginning_whatever_others_wrote_there) {
  EXPECT_EQ(short_digest("0123456789abcdef"), "01234567");
  EXPECT_EQ(short_digest("12"), "12");
  EXPECT_EQ(short_digest("a\n\x1b"), "a\\x0a\\x1b");
}

TEST(so_many, is_one_or_several) {
  EXPECT_EQ(so_many(1, "client"), "1 client");
  EXPECT_EQ(so_many(0, "round"), "0 rounds");
  EXPECT_EQ(so_many(12, "text"), "12 texts");
}

TEST(trimmed, is_without_what_stands_around_it) {
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed("alone"), "alone");
  EXPECT_EQ(trimmed("\n \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(last_line, is_what_a_script_says_last) {
  EXPECT_EQ(last_line("Traceback:\n  a.py, line 3\nValueError: no\n\n"),
            "ValueError: no");
  EXPECT_EQ(last_line("alone"), "alone");
  EXPECT_EQ(last_line("\n \n"), "");
  EXPECT_EQ(last_line(""), "");
}

} // namespace troupe
